/* Gives the files of folders to a fuzz target, without libFuzzer: fuzz_replay FOLDER.. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned count;

static void replay(const char *path) {
    FILE *f = fopen(path, "rb");
    static uint8_t data[1 << 20];
    if (!f) {
        perror(path);
        exit(1);
    }
    size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    fprintf(stderr, "%s\n", path); /* the last one printed is the one that ended the process */
    LLVMFuzzerTestOneInput(data, size);
    count++;
}

static void replay_folder(const char *path) {
    DIR *dir = opendir(path);
    if (!dir) {
        perror(path);
        exit(1);
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char name[1100];
        struct stat st;
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] == '.' || stat(name, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            replay_folder(name);
        else
            replay(name);
    }
    closedir(dir);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        replay_folder(argv[i]);
    printf("%u files\n", count);
    return count ? 0 : 1;
}
