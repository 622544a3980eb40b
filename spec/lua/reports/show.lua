-- Prints what a program is refused with, or that it was not.
return function(title, f, ...)
  print("-- " .. title)
  local ok, err = pcall(f, ...)
  if ok then
    print("accepted")
  elseif type(err) == "userdata" then
    io.write(err:render())
  else
    print(err)
  end
  print()
end
