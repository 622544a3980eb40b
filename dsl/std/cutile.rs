// The tile track: cutile::core, with both generations of the peer's spellings. Elementwise math
// and the impls of the element traits come from tables (dsl/surface.c).

pub mod prelude {
    pub use crate::core::*;
}

pub mod core {
    #[lang = "ElementType"]
    pub trait ElementType: Copy {
        const ZERO: Self;
        const ONE: Self;
    }
    #[lang = "FloatElement"]
    pub trait FloatElement: ElementType {}
    #[lang = "IntElement"]
    pub trait IntElement: ElementType {}
    #[lang = "BitsElement"]
    pub trait BitsElement: ElementType {}
    pub trait ByteElement: ElementType {}
    impl ByteElement for i8 {}
    impl ByteElement for u8 {}
    // Two f4e2m1fn in a byte, the first in its lower half.
    pub type f4e2m1fnx2 = u8;

    #[lang = "Shape"]
    #[derive(Clone, Copy)]
    pub struct Shape<'a, const S: [i32; N]> { pub dims: &'a [i32] }

    #[lang = "Tile"]
    #[derive(Clone, Copy)]
    pub struct Tile<E: ElementType, const S: [i32; N]> {}

    #[lang = "Tensor"]
    pub struct Tensor<E: ElementType, const S: [i32; N]> {}

    #[lang = "Partition"]
    pub struct Partition<'a, E: ElementType, const S: [i32; N]> {}

    #[lang = "PartitionMut"]
    pub struct PartitionMut<'a, E: ElementType, const S: [i32; N]> {}

    // The value of const_array![..], and what the peer writes for it.
    #[lang = "Array"]
    #[derive(Clone, Copy)]
    pub struct Array<'a, const S: [i32; N]> { pub dims: &'a [i32] }

    macro_rules! shape {}
    macro_rules! const_shape {}
    macro_rules! const_array {}

    // Blocks

    #[intrinsic = "BlockIdTuple"]
    pub fn get_tile_block_id() -> (i32, i32, i32);
    #[intrinsic = "NumBlocksTuple"]
    pub fn get_num_tile_blocks() -> (i32, i32, i32);
    #[intrinsic = "ProgramIdAxis"]
    pub fn program_id(axis: i32) -> i32;
    #[intrinsic = "NumProgramsAxis"]
    pub fn num_programs(axis: i32) -> i32;

    // Loads and stores

    impl<E: ElementType, const S: [i32; N]> Tensor<E, S> {
        #[intrinsic = "TensorLoad"]
        pub fn load(&self) -> Tile<E, S>;
        #[intrinsic = "TensorStore"]
        pub fn store(&mut self, tile: Tile<E, S>) -> Token;
        #[intrinsic = "TensorLoadLike"]
        pub fn load_like<F: ElementType, const R: [i32; N]>(&self, like: &Tensor<F, R>) -> Tile<E, R>;
        #[intrinsic = "TensorLoadTile"]
        pub fn load_tile<const R: [i32; N], const RANK: usize>(&self, shape: Shape<R>, index: [i32; RANK]) -> Tile<E, R>;
        #[intrinsic = "TensorPartition"]
        pub fn partition<const R: [i32; N]>(&self, shape: Shape<R>) -> Partition<E, R>;
        #[intrinsic = "PartitionPermuted"]
        pub fn partition_permuted<const R: [i32; N], const P: [i32; N]>(&self, shape: Shape<R>, dim_map: Array<P>) -> Partition<E, R>;
        #[intrinsic = "PartitionNested"]
        pub fn partition_mut<const R: [i32; N]>(&mut self, shape: Shape<R>) -> PartitionMut<E, R>;
        #[intrinsic = "PartitionFull"]
        pub unsafe fn partition_full_mut<const R: [i32; N]>(&self, shape: Shape<R>) -> PartitionMut<E, R>;
        #[intrinsic = "TensorSlice"]
        pub fn slice<const R: [i32; N]>(&self, axis: i32, start: i32, end: i32) -> &Tensor<E, R>;
        #[intrinsic = "TensorShape"]
        pub fn shape(&self) -> Shape<'static, S>;
        #[intrinsic = "TensorAddress"]
        pub fn as_ptr(&self) -> *const E;
        #[intrinsic = "TokenValue"]
        pub fn token(&self) -> Token;
        #[intrinsic = "TokenValue"]
        pub unsafe fn set_token(&self, token: Token);
    }
    #[intrinsic = "TensorBase"]
    pub fn get_tensor_base<E: ElementType, const S: [i32; N]>(tensor: &Tensor<E, S>) -> PointerTile<*mut E, { [] }>;

    impl<E: ElementType, const S: [i32; N]> Partition<E, S> {
        #[intrinsic = "PartitionLoad"]
        pub fn load<const RANK: usize>(&self, index: [i32; RANK]) -> Tile<E, S>;
        #[intrinsic = "PartitionLoad"]
        pub fn load_pipelined<const LATENCY: i32, const RANK: usize>(&self, index: [i32; RANK]) -> Tile<E, S>;
    }

    impl<E: ElementType, const S: [i32; N]> PartitionMut<E, S> {
        #[intrinsic = "PartitionLoad"]
        pub unsafe fn load<const RANK: usize>(&self, index: [i32; RANK]) -> Tile<E, S>;
        #[intrinsic(PartitionWrite, "checked")]
        pub fn store<const RANK: usize>(&mut self, tile: Tile<E, S>, index: [i32; RANK]) -> Token;
        #[intrinsic(PartitionWrite, "unchecked")]
        pub unsafe fn store_unchecked<const RANK: usize>(&mut self, tile: Tile<E, S>, index: [i32; RANK]) -> Token;
    }

    #[intrinsic = "PartitionRead"]
    pub fn load_view_tko<E: ElementType, const S: [i32; N], const RANK: usize, O: ordering::Mode, C: scope::Mode, T: tma::Mode>(view: &Partition<E, S>, index: [i32; RANK], memory_ordering: O, memory_scope: C, latency: Option<i32>, tma: T) -> Tile<E, S>;
    #[intrinsic = "PartitionRead"]
    pub unsafe fn load_view_tko_mut<E: ElementType, const S: [i32; N], const RANK: usize, O: ordering::Mode, C: scope::Mode, T: tma::Mode>(view: &PartitionMut<E, S>, index: [i32; RANK], memory_ordering: O, memory_scope: C, latency: Option<i32>, tma: T) -> Tile<E, S>;
    #[intrinsic(PartitionWrite, "unchecked")]
    pub unsafe fn store_view_tko_mut<E: ElementType, const S: [i32; N], const RANK: usize, O: ordering::Mode, C: scope::Mode, T: tma::Mode>(view: &mut PartitionMut<E, S>, tile: Tile<E, S>, index: [i32; RANK], memory_ordering: O, memory_scope: C, latency: Option<i32>, tma: T) -> Token;
    #[intrinsic = "LoadTensor"]
    pub unsafe fn load_tensor<T: ElementType, const S: [i32; N], const R: [i32; N], const P: [i32; N], const RANK: usize>(dst: &Tensor<i64, S>, idx: [i32; RANK], shape: Shape<R>, strides: Array<P>) -> Tensor<T, R>;
    #[intrinsic = "MakeTensor"]
    pub unsafe fn make_tensor_view<E: ElementType, const S: [i32; N], const P: [i32; N]>(base: PointerTile<*mut E, { [] }>, shape: Shape<S>, strides: Array<P>, token: Token) -> Tensor<E, S>;
    #[intrinsic = "PartitionPadded"]
    pub fn make_partition_view<E: ElementType, const S: [i32; N], const R: [i32; N], P: padding::Mode, M: dim_map::Mode>(tensor_view: &Tensor<E, S>, tile: Shape<R>, padding_value: P, dim_map: M, token: Token) -> Partition<E, R>;
    #[intrinsic = "PartitionPadded"]
    pub unsafe fn make_partition_view_mut<E: ElementType, const S: [i32; N], const R: [i32; N], P: padding::Mode>(tensor_view: &Tensor<E, S>, shape: Shape<R>, padding_value: P, token: Token) -> PartitionMut<E, R>;
    #[intrinsic = "PartitionNested"]
    pub unsafe fn make_nested_partition_view_mut<E: ElementType, const S: [i32; N], const R: [i32; N], P: padding::Mode>(tensor_view: &Tensor<E, S>, shape: Shape<R>, padding_value: P, token: Token) -> PartitionMut<E, R>;
    #[intrinsic = "IndexSpace"]
    pub fn get_index_space_shape<E: ElementType, const S: [i32; N], const RANK: usize>(src: &Partition<E, S>) -> [i32; RANK];

    // Dimensions: a count of tiles along an axis. Loops over one give indices below it.

    #[lang = "Dim"]
    #[derive(Clone, Copy)]
    pub struct Dim {}
    impl Dim {
        #[intrinsic = "DimValue"]
        pub fn new(value: i32) -> Dim;
        #[intrinsic = "DimValue"]
        pub fn value(self) -> i32;
    }
    pub trait IntoDim {
        #[intrinsic = "DimValue"]
        fn into_dim(self) -> Dim;
    }
    impl IntoDim for Dim {}
    impl IntoDim for i32 {}

    #[derive(Clone, Copy)]
    pub struct Coord2(i32, i32);
    #[derive(Clone, Copy)]
    pub struct Coord3(i32, i32, i32);
    pub trait CoordTuple {
        type Coord;
    }
    impl CoordTuple for (i32, i32) {
        type Coord = Coord2;
    }
    impl CoordTuple for (i32, i32, i32) {
        type Coord = Coord3;
    }
    pub trait Coordinates {}
    impl Coordinates for Coord2 {}
    impl Coordinates for Coord3 {}
    #[intrinsic = "CoordOf"]
    pub fn coord<C: CoordTuple>(index: C) -> C::Coord;

    pub trait Bounds {}
    impl<A: IntoDim> Bounds for (A,) {}
    impl<A: IntoDim, B: IntoDim> Bounds for (A, B) {}
    impl<A: IntoDim, B: IntoDim, C: IntoDim> Bounds for (A, B, C) {}

    #[lang = "BoundedPartition"]
    pub struct BoundedPartition<'a, E: ElementType, const S: [i32; N]> {}
    #[lang = "BoundedPartitionMut"]
    pub struct BoundedPartitionMut<'a, E: ElementType, const S: [i32; N]> {}

    impl<'a, E: ElementType, const S: [i32; N]> Partition<'a, E, S> {
        #[intrinsic = "WithBounds"]
        pub fn with_bounds<B: Bounds>(self, bounds: B) -> BoundedPartition<'a, E, S>;
        #[intrinsic = "PartitionLoad"]
        pub fn load_index(&self, index: PartitionIndex<S>) -> Tile<E, S>;
    }
    impl<'a, E: ElementType, const S: [i32; N]> PartitionMut<'a, E, S> {
        #[intrinsic = "WithBounds"]
        pub fn with_bounds<B: Bounds>(self, bounds: B) -> BoundedPartitionMut<'a, E, S>;
        #[intrinsic(PartitionWrite, "checked")]
        pub fn store_index(&mut self, tile: Tile<E, S>, index: PartitionIndex<S>) -> Token;
    }
    impl<E: ElementType, const S: [i32; N]> BoundedPartition<E, S> {
        #[intrinsic = "BoundedLoad"]
        pub fn load<C: Coordinates>(&self, index: C) -> Tile<E, S>;
        #[intrinsic = "BoundedLoad"]
        pub fn load_pipelined<const LATENCY: i32, C: Coordinates>(&self, index: C) -> Tile<E, S>;
    }
    impl<E: ElementType, const S: [i32; N]> BoundedPartitionMut<E, S> {
        #[intrinsic = "BoundedStore"]
        pub fn store<C: Coordinates>(&mut self, tile: Tile<E, S>, index: C) -> Token;
    }

    // Partitions whose tiles the blocks of a launch share out: persistent kernels.

    #[lang = "MappedPartitionMut"]
    pub struct MappedPartitionMut<E: ElementType, const S: [i32; N], const M: [i32; N]> {}
    #[lang = "PartitionIndex"]
    #[derive(Clone, Copy)]
    pub struct PartitionIndex<const S: [i32; N]> {}
    #[lang = "PartitionIndices"]
    pub struct PartitionIndices<const S: [i32; N], const M: [i32; N]> {}
    pub trait Components {}
    impl Components for (i32,) {}
    impl Components for (i32, i32) {}
    impl Components for (i32, i32, i32) {}
    impl Components for (i32, i32, i32, i32) {}
    pub trait StoreIndex {}
    impl StoreIndex for Coord2 {}
    impl StoreIndex for Coord3 {}
    impl<const S: [i32; N]> StoreIndex for PartitionIndex<S> {}

    impl<const S: [i32; N]> PartitionIndex<S> {
        #[intrinsic = "IndexParts"]
        pub fn coords<const RANK: usize>(self) -> [i32; RANK];
        #[intrinsic = "IndexParts"]
        pub fn components<C: Components>(self) -> C;
    }
    impl<E: ElementType, const S: [i32; N], const M: [i32; N]> MappedPartitionMut<E, S, M> {
        #[intrinsic = "IterIndices"]
        pub fn iter_indices(&self) -> PartitionIndices<S, M>;
        #[intrinsic = "IterIndices"]
        pub fn iter_indices_with<F: ElementType>(&self, other: &MappedPartitionMut<F, S, M>) -> PartitionIndices<S, M>;
        #[intrinsic = "IterIndices"]
        pub fn iter_indices_within<const RANK: usize>(&self, ranges: [(i32, i32); RANK]) -> PartitionIndices<S, M>;
        #[intrinsic = "IterIndices"]
        pub fn iter_indices_within_with<const RANK: usize, F: ElementType>(&self, ranges: [(i32, i32); RANK], other: &MappedPartitionMut<F, S, M>) -> PartitionIndices<S, M>;
        #[intrinsic = "MappedStore"]
        pub fn store<I: StoreIndex>(&mut self, tile: Tile<E, S>, index: I) -> Token;
        #[intrinsic = "SwizzleIndex"]
        pub unsafe fn index(&self, tile_id: i32, num_bid_m: i32, num_bid_n: i32) -> PartitionIndex<S>;
    }
    #[intrinsic = "SwizzleIndex"]
    pub unsafe fn swizzle_partition_index_2d<const S: [i32; N], const M: [i32; N]>(tile_id: i32, num_bid_m: i32, num_bid_n: i32) -> PartitionIndex<S>;
    #[intrinsic = "PartitionPadded"]
    pub unsafe fn make_mapped_partition_view<E: ElementType, const S: [i32; N], const R: [i32; N], const M: [i32; N], P: padding::Mode>(tensor_view: &Tensor<E, S>, shape: Shape<R>, padding_value: P, token: Token) -> MappedPartitionMut<E, R, M>;
    #[intrinsic = "PartitionRead"]
    pub fn load_view_tko_bounded<E: ElementType, const S: [i32; N], const RANK: usize, O: ordering::Mode, C: scope::Mode, T: tma::Mode>(view: &BoundedPartition<E, S>, index: [i32; RANK], memory_ordering: O, memory_scope: C, latency: Option<i32>, tma: T) -> Tile<E, S>;
    #[intrinsic(PartitionWrite, "unchecked")]
    pub unsafe fn store_view_tko_bounded<E: ElementType, const S: [i32; N], const RANK: usize, O: ordering::Mode, C: scope::Mode, T: tma::Mode>(view: &mut BoundedPartitionMut<E, S>, tile: Tile<E, S>, index: [i32; RANK], memory_ordering: O, memory_scope: C, latency: Option<i32>, tma: T) -> Token;
    #[intrinsic(PartitionWrite, "unchecked")]
    pub unsafe fn store_view_tko_mapped_mut<E: ElementType, const S: [i32; N], const M: [i32; N], const RANK: usize, O: ordering::Mode, C: scope::Mode, T: tma::Mode>(view: &mut MappedPartitionMut<E, S, M>, tile: Tile<E, S>, index: [i32; RANK], memory_ordering: O, memory_scope: C, latency: Option<i32>, tma: T) -> Token;

    // Tokens order accesses in the peer's IR. Here accesses keep the order of the source.
    #[lang = "Token"]
    #[derive(Clone, Copy)]
    pub struct Token {}
    #[derive(Clone, Copy)]
    pub struct Latency<const N: i32>;
    #[intrinsic = "TokenValue"]
    pub fn new_token_unordered() -> Token;
    #[intrinsic = "TokenValue"]
    pub fn join_tokens(tokens: &[Token]) -> Token;
    #[intrinsic = "TokenValue"]
    pub unsafe fn memory_fence_alias_tko(token: Token) -> Token;
    // A launch starts when the one before it on its stream has ended, and sees all that it wrote.
    #[intrinsic = "TokenValue"]
    pub unsafe fn gdc_launch_dependents_tko(token: Option<Token>) -> Token;
    #[intrinsic = "TokenValue"]
    pub unsafe fn gdc_wait_tko(token: Option<Token>) -> Token;
    #[intrinsic = "TokenValue"]
    pub fn get_tensor_token<E: ElementType, const S: [i32; N]>(tensor: &Tensor<E, S>) -> Token;
    #[intrinsic = "TokenValue"]
    pub fn set_tensor_token<E: ElementType, const S: [i32; N]>(tensor: &Tensor<E, S>, token: Token);
    #[intrinsic = "TokenValue"]
    pub fn get_partition_token<E: ElementType, const S: [i32; N]>(view: &Partition<E, S>) -> Token;
    #[intrinsic = "TokenValue"]
    pub fn get_partition_token_mut<E: ElementType, const S: [i32; N]>(view: &PartitionMut<E, S>) -> Token;

    #[intrinsic = "TensorLoad"]
    pub fn load_tile_mut<E: ElementType, const S: [i32; N]>(y: &mut Tensor<E, S>) -> Tile<E, S>;
    #[intrinsic = "TensorStore"]
    pub fn store_tile<E: ElementType, const S: [i32; N]>(y: &mut Tensor<E, S>, tile: Tile<E, S>) -> Token;
    #[intrinsic = "TensorLoadLike"]
    pub fn load_tile_like<E: ElementType, F: ElementType, const S: [i32; N], const R: [i32; N]>(x: &Tensor<E, S>, y: &Tensor<F, R>) -> Tile<E, R>;
    #[intrinsic = "TensorLoadTile"]
    pub fn load_tile<E: ElementType, const S: [i32; N], const R: [i32; N], const RANK: usize>(x: &Tensor<E, S>, shape: Shape<R>, index: [i32; RANK]) -> Tile<E, R>;
    #[intrinsic = "NumTiles"]
    pub fn num_tiles<V>(view: &V, axis: i32) -> i32;

    // Making tiles, shapes of tiles

    #[intrinsic = "Constant"]
    pub fn constant<E: ElementType, const S: [i32; N]>(value: E, shape: Shape<S>) -> Tile<E, S>;
    #[intrinsic = "BroadcastScalar"]
    pub fn broadcast_scalar<E: ElementType, const S: [i32; N]>(x: E, shape: Shape<S>) -> Tile<E, S>;
    #[intrinsic = "IotaTile"]
    pub fn iota<E: IntElement, const S: [i32; N]>(shape: Shape<S>) -> Tile<E, S>;
    #[intrinsic = "BroadcastTile"]
    pub fn broadcast<E: ElementType, const S: [i32; N], const R: [i32; N]>(source: Tile<E, S>, shape: Shape<R>) -> Tile<E, R>;
    #[intrinsic = "ReshapeTile"]
    pub fn reshape<E: ElementType, const S: [i32; N], const R: [i32; N]>(source: Tile<E, S>, shape: Shape<R>) -> Tile<E, R>;
    #[intrinsic = "ScalarToTile"]
    pub fn scalar_to_tile<E: ElementType>(scalar: E) -> Tile<E, { [] }>;
    #[intrinsic = "TileToScalar"]
    pub fn tile_to_scalar<E: ElementType>(tile: Tile<E, { [] }>) -> E;

    impl<E: ElementType> E {
        #[intrinsic = "BroadcastScalar"]
        pub fn broadcast<const S: [i32; N]>(self, shape: Shape<S>) -> Tile<E, S>;
    }

    impl<E: ElementType, const S: [i32; N]> Tile<E, S> {
        #[intrinsic = "BroadcastTile"]
        pub fn broadcast<const R: [i32; N]>(self, shape: Shape<R>) -> Tile<E, R>;
        #[intrinsic = "ReshapeTile"]
        pub fn reshape<const R: [i32; N]>(self, shape: Shape<R>) -> Tile<E, R>;
    }

    impl<E: ElementType, const S: [i32; N]> Tile<E, S> {
        #[intrinsic = "TransposeTile"]
        pub fn transpose<const R: [i32; N]>(self) -> Tile<E, R>;
        #[intrinsic = "TileShape"]
        pub fn shape(&self) -> Shape<'static, S>;
    }
    #[intrinsic = "PermuteTile"]
    pub fn permute<E: ElementType, const S: [i32; N], const P: [i32; N], const R: [i32; N]>(source: Tile<E, S>, permutation: Array<P>) -> Tile<E, R>;
    #[intrinsic = "CatTiles"]
    pub fn cat<E: ElementType, const S: [i32; N], const R: [i32; N], const O: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, R>, dim: i32) -> Tile<E, O>;
    #[intrinsic = "ExtractPart"]
    pub fn extract<E: ElementType, const S: [i32; N], const R: [i32; N], const RANK: usize>(source: Tile<E, S>, indices: [Tile<i32, { [] }>; RANK]) -> Tile<E, R>;
    #[intrinsic = "InsertPart"]
    pub unsafe fn insert<E: ElementType, const S: [i32; N], const R: [i32; N], const RANK: usize>(source: Tile<E, S>, destination: Tile<E, R>, indices: [Tile<i32, { [] }>; RANK]) -> Tile<E, R>;
    #[intrinsic = "ShapeDim"]
    pub fn get_shape_dim<const S: [i32; N]>(shape: Shape<S>, dim_idx: i32) -> i32;
    #[intrinsic = "TensorShapeArray"]
    pub fn get_tensor_shape<E: ElementType, const S: [i32; N], const RANK: usize>(src: &Tensor<E, S>) -> [i32; RANK];
    #[intrinsic = "PermuteArray"]
    pub fn permute_array<const P: [i32; N], const RANK: usize>(source: [i32; RANK], permutation: Array<P>) -> [i32; RANK];

    // Reductions, scans, products of matrices

    #[intrinsic = "ReduceTile"]
    pub fn reduce_sum<E: ElementType, const S: [i32; N], const R: [i32; N]>(x: Tile<E, S>, dim: i32) -> Tile<E, R>;
    #[intrinsic = "ReduceTile"]
    pub fn reduce_prod<E: ElementType, const S: [i32; N], const R: [i32; N]>(x: Tile<E, S>, dim: i32) -> Tile<E, R>;
    #[intrinsic = "ReduceTile"]
    pub fn reduce_min<E: ElementType, const S: [i32; N], const R: [i32; N]>(x: Tile<E, S>, dim: i32) -> Tile<E, R>;
    #[intrinsic = "ReduceTile"]
    pub fn reduce_max<E: ElementType, const S: [i32; N], const R: [i32; N]>(x: Tile<E, S>, dim: i32) -> Tile<E, R>;
    #[intrinsic = "ReduceTile"]
    pub fn reduce_xor<E: IntElement, const S: [i32; N], const R: [i32; N]>(x: Tile<E, S>, dim: i32) -> Tile<E, R>;
    #[intrinsic = "ReduceWith"]
    pub fn reduce<E: ElementType, const S: [i32; N], const R: [i32; N], F: Fn(E, E) -> E>(operand: Tile<E, S>, dim: i32, identity: E, f: F) -> Tile<E, R>;
    #[intrinsic = "ScanTile"]
    pub fn scan_sum<E: ElementType, const S: [i32; N], M: reverse::Mode>(operand: Tile<E, S>, dim: i32, reverse: M, identity: E) -> Tile<E, S>;
    #[intrinsic = "ScanTile"]
    pub fn scan<E: ElementType, const S: [i32; N], M: reverse::Mode, F: Fn(E, E) -> E>(operand: Tile<E, S>, dim: i32, reverse: M, identity: E, f: F) -> Tile<E, S>;
    #[intrinsic = "MatMul"]
    pub fn mma<A: ElementType, C: ElementType, const M: i32, const N: i32, const K: i32>(lhs: Tile<A, { [M, K] }>, rhs: Tile<A, { [K, N] }>, acc: Tile<C, { [M, N] }>) -> Tile<C, { [M, N] }>;
    #[intrinsic = "MatMul"]
    pub fn mmaf<A: FloatElement, C: FloatElement, const L: [i32; N], const R: [i32; N], const O: [i32; N]>(lhs: Tile<A, L>, rhs: Tile<A, R>, acc: Tile<C, O>) -> Tile<C, O>;
    #[intrinsic = "MatMul"]
    pub fn mmai<A: IntElement, const L: [i32; N], const R: [i32; N], const O: [i32; N], U: signedness::Mode, V: signedness::Mode>(lhs: Tile<A, L>, rhs: Tile<A, R>, acc: Tile<i32, O>, signedness_lhs: U, signedness_rhs: V) -> Tile<i32, O>;

    #[intrinsic = "MatMul"]
    pub unsafe fn mmaf_with_fast_acc<A: FloatElement, C: FloatElement, const L: [i32; N], const R: [i32; N], const O: [i32; N], F: fast_acc::Mode>(lhs: Tile<A, L>, rhs: Tile<A, R>, acc: Tile<C, O>, fast_acc: F) -> Tile<C, O>;
    #[intrinsic = "MatMulScaled"]
    pub fn mmaf_scaled<A: ElementType, B: ElementType, const L: [i32; N], const R: [i32; N], const O: [i32; N], const U: [i32; N], const V: [i32; N]>(lhs: Tile<A, L>, rhs: Tile<A, R>, acc: Tile<f32, O>, lhs_scale: Tile<B, U>, rhs_scale: Tile<B, V>) -> Tile<f32, O>;
    #[intrinsic = "PackBytes"]
    pub fn pack<E: ElementType, B: ByteElement, const S: [i32; N], const R: [i32; N]>(source: Tile<E, S>) -> Tile<B, R>;
    #[intrinsic = "UnpackBytes"]
    pub fn unpack<E: ElementType, B: ByteElement, const S: [i32; N], const R: [i32; N]>(source: Tile<B, S>) -> Tile<E, R>;
    impl<const S: [i32; N]> Tile<f4e2m1fn, S> {
        #[intrinsic = "PackBytes"]
        pub fn pack<const R: [i32; N]>(self, shape: Shape<R>) -> Tile<u8, R>;
    }
    impl<const S: [i32; N]> Tile<u8, S> {
        #[intrinsic = "UnpackBytes"]
        pub fn unpack<const R: [i32; N]>(self, shape: Shape<R>) -> Tile<f4e2m1fn, R>;
    }

    // Comparison, selection, conversion

    #[intrinsic(CompareTile, "eq")]
    pub fn eq_tile<E: ElementType, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<bool, S>;
    #[intrinsic(CompareTile, "ne")]
    pub fn ne_tile<E: ElementType, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<bool, S>;
    #[intrinsic(CompareTile, "gt")]
    pub fn gt_tile<E: ElementType, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<bool, S>;
    #[intrinsic(CompareTile, "ge")]
    pub fn ge_tile<E: ElementType, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<bool, S>;
    #[intrinsic(CompareTile, "lt")]
    pub fn lt_tile<E: ElementType, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<bool, S>;
    #[intrinsic(CompareTile, "le")]
    pub fn le_tile<E: ElementType, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<bool, S>;
    #[intrinsic = "SelectTile"]
    pub fn select<E: ElementType, const S: [i32; N]>(cond: Tile<bool, S>, val_if_true: Tile<E, S>, val_if_false: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "ConvertTile"]
    pub fn convert_tile<TO: ElementType, FROM: ElementType, const S: [i32; N]>(x: Tile<FROM, S>) -> Tile<TO, S>;
    #[intrinsic = "ConvertScalar"]
    pub fn convert_scalar<TO: ElementType, FROM: ElementType>(x: FROM) -> TO;

    // Arithmetic with a name

    #[intrinsic(MinMax, "min")]
    pub fn min_tile<E: ElementType, const S: [i32; N]>(a: Tile<E, S>, b: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic(MinMax, "max")]
    pub fn max_tile<E: ElementType, const S: [i32; N]>(a: Tile<E, S>, b: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic(MinMax, "min")]
    pub fn mini<E: IntElement, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic(MinMax, "max")]
    pub fn maxi<E: IntElement, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "MinMaxFloat"]
    pub fn minf<E: FloatElement, const S: [i32; N], M: nan::Mode, F: ftz::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, #[optional] nan: M, #[optional] ftz: F) -> Tile<E, S>;
    #[intrinsic = "MinMaxFloat"]
    pub fn maxf<E: FloatElement, const S: [i32; N], M: nan::Mode, F: ftz::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, #[optional] nan: M, #[optional] ftz: F) -> Tile<E, S>;
    #[intrinsic = "NamedFloat"]
    pub fn addf<E: FloatElement, const S: [i32; N], R: rounding::Mode, F: ftz::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, rounding: R, ftz: F) -> Tile<E, S>;
    #[intrinsic = "NamedFloat"]
    pub fn subf<E: FloatElement, const S: [i32; N], R: rounding::Mode, F: ftz::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, rounding: R, ftz: F) -> Tile<E, S>;
    #[intrinsic = "NamedFloat"]
    pub fn mulf<E: FloatElement, const S: [i32; N], R: rounding::Mode, F: ftz::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, rounding: R, ftz: F) -> Tile<E, S>;
    #[intrinsic = "NamedFloat"]
    pub fn divf<E: FloatElement, const S: [i32; N], R: rounding::Mode, F: ftz::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, rounding: R, ftz: F) -> Tile<E, S>;
    #[intrinsic = "NamedFloat"]
    pub fn remf<E: FloatElement, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "NamedFloat"]
    pub fn negf<E: FloatElement, const S: [i32; N]>(x: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "NamedFloat"]
    pub fn absf<E: FloatElement, const S: [i32; N]>(x: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "NamedInt"]
    pub fn addi<E: IntElement, const S: [i32; N], O: overflow::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, overflow: O) -> Tile<E, S>;
    #[intrinsic = "NamedInt"]
    pub fn subi<E: IntElement, const S: [i32; N], O: overflow::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, overflow: O) -> Tile<E, S>;
    #[intrinsic = "NamedInt"]
    pub fn muli<E: IntElement, const S: [i32; N], O: overflow::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, overflow: O) -> Tile<E, S>;
    #[intrinsic = "NamedInt"]
    pub fn shli<E: IntElement, const S: [i32; N], O: overflow::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, overflow: O) -> Tile<E, S>;
    #[intrinsic = "NamedInt"]
    pub fn andi<E: BitsElement, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "NamedInt"]
    pub fn ori<E: BitsElement, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "NamedInt"]
    pub fn xori<E: BitsElement, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "NamedInt"]
    pub fn shri<E: IntElement, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "NamedInt"]
    pub fn negi<E: IntElement, const S: [i32; N], O: overflow::Mode>(x: Tile<E, S>, overflow: O) -> Tile<E, S>;
    #[intrinsic = "NamedInt"]
    pub fn absi<E: IntElement, const S: [i32; N]>(x: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "NamedInt"]
    pub fn noti<E: BitsElement, const S: [i32; N]>(x: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "NamedDivide"]
    pub fn divi<E: IntElement, const S: [i32; N], R: rounding::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, rounding: R) -> Tile<E, S>;
    #[intrinsic = "NamedDivide"]
    pub fn remi<E: IntElement, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "MulHigh"]
    pub fn mulhii<E: IntElement, const S: [i32; N]>(lhs: Tile<E, S>, rhs: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "NamedCompare"]
    pub fn cmpi<E: ElementType, const S: [i32; N], P: predicate::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, predicate: P) -> Tile<bool, S>;
    #[intrinsic = "NamedCompare"]
    pub fn cmpf<E: FloatElement, const S: [i32; N], P: predicate::Mode, O: cmp_ordering::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, predicate: P, ordering: O) -> Tile<bool, S>;
    #[intrinsic = "NamedConvert"]
    pub fn ftof<FROM: FloatElement, TO: FloatElement, const S: [i32; N], R: rounding::Mode>(x: Tile<FROM, S>, rounding: R) -> Tile<TO, S>;
    #[intrinsic = "NamedConvert"]
    pub fn ftoi<FROM: FloatElement, TO: IntElement, const S: [i32; N], R: rounding::Mode>(x: Tile<FROM, S>, rounding: R) -> Tile<TO, S>;
    #[intrinsic = "NamedConvert"]
    pub fn itof<FROM: IntElement, TO: FloatElement, const S: [i32; N], R: rounding::Mode>(x: Tile<FROM, S>, rounding: R) -> Tile<TO, S>;
    #[intrinsic = "NamedConvert"]
    pub fn exti<FROM: ElementType, TO: IntElement, const S: [i32; N]>(x: Tile<FROM, S>) -> Tile<TO, S>;
    #[intrinsic = "NamedConvert"]
    pub fn trunci<FROM: IntElement, TO: ElementType, const S: [i32; N], O: overflow::Mode>(x: Tile<FROM, S>, overflow: O) -> Tile<TO, S>;
    #[intrinsic = "ConvertTile"]
    pub unsafe fn ftoi_saturating<FROM: FloatElement, TO: IntElement, const S: [i32; N], M: saturating::Mode>(x: Tile<FROM, S>, saturating: M) -> Tile<TO, S>;
    #[intrinsic(ApproxMode, "exp")]
    pub unsafe fn exp_with_rounding<E: FloatElement, const S: [i32; N], R: rounding::Mode>(x: Tile<E, S>, rounding: R) -> Tile<E, S>;
    #[intrinsic(ApproxMode, "tanh")]
    pub unsafe fn tanh_with_rounding<E: FloatElement, const S: [i32; N], R: rounding::Mode>(x: Tile<E, S>, rounding: R) -> Tile<E, S>;
    #[intrinsic = "TilePowi"]
    pub unsafe fn fpowi<E: FloatElement, I: IntElement, const S: [i32; N]>(x: Tile<E, S>, exponent: Tile<I, S>) -> Tile<E, S>;
    #[op = "pow"]
    pub unsafe fn fpowf<E: FloatElement, const S: [i32; N]>(x: Tile<E, S>, exponent: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "BitcastTile"]
    pub fn bitcast<FROM: ElementType, TO: ElementType, const S: [i32; N]>(source: Tile<FROM, S>) -> Tile<TO, S>;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_div_by<T, const A: i32>(x: T) -> T;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_div_by_every_along<T, const A: i32, const B: i32, const C: i32>(x: T) -> T;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_bounds_lower<T, const A: i32>(x: T) -> T;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_bounds_upper<T, const A: i32>(x: T) -> T;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_bounds<T, const A: i32, const B: i32>(x: T) -> T;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_same_elements_1d<T, const A: i32>(x: T) -> T;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_same_elements_2d<T, const A: i32, const B: i32>(x: T) -> T;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_same_elements_3d<T, const A: i32, const B: i32, const C: i32>(x: T) -> T;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_same_elements_4d<T, const A: i32, const B: i32, const C: i32, const D: i32>(x: T) -> T;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_div_by_raw<T>(x: T, divisor: u64, every: Option<i64>, along: Option<i64>) -> T;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_bounds_raw<T>(x: T, lower: Option<i64>, upper: Option<i64>) -> T;
    #[intrinsic = "SameValue"]
    pub unsafe fn assume_same_elements_raw<T, const RANK: usize>(x: T, groups: [i64; RANK]) -> T;
    #[intrinsic(MinMax, "min")]
    pub fn min<E: ElementType>(a: E, b: E) -> E;
    #[intrinsic(MinMax, "max")]
    pub fn max<E: ElementType>(a: E, b: E) -> E;
    #[intrinsic = "NamedFloat"]
    pub fn fma<E: FloatElement, const S: [i32; N], R: rounding::Mode, F: ftz::Mode>(lhs: Tile<E, S>, rhs: Tile<E, S>, acc: Tile<E, S>, #[optional] rounding: R, #[optional] ftz: F) -> Tile<E, S>;
    #[intrinsic = "TrueDiv"]
    pub fn true_div<E: FloatElement, const S: [i32; N]>(a: Tile<E, S>, b: Tile<E, S>) -> Tile<E, S>;
    #[intrinsic = "CeilDiv"]
    pub fn ceil_div<E: IntElement>(a: E, b: E) -> E;

    // Pointers: an address and offsets of elements from it

    pub trait Pointer {
        type Element;
    }
    impl<E: ElementType> Pointer for *mut E { type Element = E; }
    impl<E: ElementType> Pointer for *const E { type Element = E; }

    #[lang = "PointerTile"]
    #[derive(Clone, Copy)]
    pub struct PointerTile<P, const S: [i32; N]> {}

    impl<P, const S: [i32; N]> PointerTile<P, S> {
        #[intrinsic = "PointerOffset"]
        pub fn offset(self, offset: i32) -> PointerTile<P, S>;
        #[intrinsic = "PointerOffset"]
        pub fn offset_tile<I: IntElement>(self, offset: Tile<I, S>) -> PointerTile<P, S>;
        #[intrinsic = "PointerBroadcast"]
        pub fn broadcast<const R: [i32; N]>(self, shape: Shape<R>) -> PointerTile<P, R>;
        #[intrinsic = "PointerReshape"]
        pub fn reshape<const R: [i32; N]>(self, shape: Shape<R>) -> PointerTile<P, R>;
    }
    #[intrinsic = "PointerToTile"]
    pub fn pointer_to_tile<P: Pointer>(ptr: P) -> PointerTile<P, { [] }>;
    #[intrinsic = "TileToPointer"]
    pub fn tile_to_pointer<P>(tile: PointerTile<P, { [] }>) -> P;
    #[intrinsic = "SameValue"]
    pub unsafe fn ptr_with_attr_none<P, const S: [i32; N]>(source: PointerTile<P, S>) -> PointerTile<P, S>;
    #[intrinsic = "SameValue"]
    pub fn cast_const<E: ElementType>(ptr: *mut E) -> *const E;
    #[intrinsic = "SameValue"]
    pub fn cast_mut<E: ElementType>(ptr: *const E) -> *mut E;
    #[intrinsic = "SameValue"]
    pub fn cast_tile_const<E: ElementType, const S: [i32; N]>(tile: PointerTile<*mut E, S>) -> PointerTile<*const E, S>;
    #[intrinsic = "SameValue"]
    pub fn cast_tile_mut<E: ElementType, const S: [i32; N]>(tile: PointerTile<*const E, S>) -> PointerTile<*mut E, S>;
    #[intrinsic = "PointerOffset"]
    pub fn addptr<P, const S: [i32; N]>(ptr: PointerTile<P, S>, offset: i32) -> PointerTile<P, S>;
    #[intrinsic = "PointerOffset"]
    pub fn addptr_tile<P, I: IntElement, const S: [i32; N]>(ptr: PointerTile<P, S>, offset: Tile<I, S>) -> PointerTile<P, S>;
    #[intrinsic = "PointerBroadcast"]
    pub fn broadcast_ptr<P, const S: [i32; N], const R: [i32; N]>(source: PointerTile<P, S>, shape: Shape<R>) -> PointerTile<P, R>;
    #[intrinsic = "PointerReshape"]
    pub fn reshape_ptr<P, const S: [i32; N], const R: [i32; N]>(source: PointerTile<P, S>, shape: Shape<R>) -> PointerTile<P, R>;
    #[intrinsic = "IntToPointers"]
    pub fn int_to_ptr<I: IntElement, E: ElementType, const S: [i32; N]>(source: Tile<I, S>) -> PointerTile<*mut E, S>;
    #[intrinsic = "PointersToInt"]
    pub fn ptr_to_int<P, I: IntElement, const S: [i32; N]>(source: PointerTile<P, S>) -> Tile<I, S>;
    #[intrinsic = "PointersToPointers"]
    pub fn ptr_to_ptr<P: Pointer, Q: Pointer, const S: [i32; N]>(source: PointerTile<P, S>) -> PointerTile<Q, S>;
    #[intrinsic = "LoadPointers"]
    pub unsafe fn load_ptr_tko<P: Pointer, const S: [i32; N], O: ordering::Mode, C: scope::Mode, const CYCLES: i32>(source: PointerTile<P, S>, memory_ordering: O, memory_scope: Option<C>, mask: Option<Tile<bool, S>>, padding_value: Option<P::Element>, token: Option<Token>, latency: Latency<CYCLES>) -> (Tile<P::Element, S>, Token);
    #[intrinsic = "StorePointers"]
    pub unsafe fn store_ptr_tko<E: ElementType, const S: [i32; N], O: ordering::Mode, C: scope::Mode, const CYCLES: i32>(destination: PointerTile<*mut E, S>, value: Tile<E, S>, memory_ordering: O, memory_scope: Option<C>, mask: Option<Tile<bool, S>>, token: Option<Token>, latency: Latency<CYCLES>) -> Token;
    #[intrinsic = "AtomicUpdate"]
    pub unsafe fn atomic_rmw_tko<E: ElementType, const S: [i32; N], M: atomic::Mode, O: ordering::Mode, C: scope::Mode>(pointers: PointerTile<*mut E, S>, arg: Tile<E, S>, mode: M, memory_ordering: O, memory_scope: C, mask: Option<Tile<bool, S>>, token: Option<Token>) -> (Tile<E, S>, Token);
    #[intrinsic = "AtomicSwap"]
    pub unsafe fn atomic_cas_tko<E: ElementType, const S: [i32; N], O: ordering::Mode, C: scope::Mode>(pointers: PointerTile<*mut E, S>, cmp: Tile<E, S>, val: Tile<E, S>, memory_ordering: O, memory_scope: C, mask: Option<Tile<bool, S>>, token: Option<Token>) -> (Tile<E, S>, Token);

    // Statics that every block of every launch of a kernel shares. Each compiled kernel has its own.

    pub struct AtomicI32;
    pub struct AtomicU32;
    pub struct AtomicI64;
    pub struct AtomicU64;
    pub struct AtomicF32;
    pub struct AtomicF64;
    pub trait GlobalElement {
        type Value;
    }
    impl GlobalElement for i32 { type Value = i32; }
    impl GlobalElement for u32 { type Value = u32; }
    impl GlobalElement for i64 { type Value = i64; }
    impl GlobalElement for u64 { type Value = u64; }
    impl GlobalElement for f32 { type Value = f32; }
    impl GlobalElement for f64 { type Value = f64; }
    impl GlobalElement for AtomicI32 { type Value = i32; }
    impl GlobalElement for AtomicU32 { type Value = u32; }
    impl GlobalElement for AtomicI64 { type Value = i64; }
    impl GlobalElement for AtomicU64 { type Value = u64; }
    impl GlobalElement for AtomicF32 { type Value = f32; }
    impl GlobalElement for AtomicF64 { type Value = f64; }
    #[lang = "Global"]
    pub struct Global<E: GlobalElement, const S: [i32; N]> {}
    impl<E: GlobalElement, const S: [i32; N]> Global<E, S> {
        #[intrinsic = "GlobalNew"]
        pub fn new(value: E::Value) -> Global<E, S>;
        #[intrinsic = "GlobalLoad"]
        pub fn load<O: ordering::Mode, C: scope::Mode>(&self, memory_ordering: O, memory_scope: C) -> (Tile<E::Value, S>, Token);
        #[intrinsic = "GlobalStore"]
        pub fn store<O: ordering::Mode, C: scope::Mode>(&self, value: Tile<E::Value, S>, memory_ordering: O, memory_scope: C) -> Token;
        #[intrinsic = "GlobalAdd"]
        pub fn atomic_add<O: ordering::Mode, C: scope::Mode>(&self, value: Tile<E::Value, S>, memory_ordering: O, memory_scope: C) -> (Tile<E::Value, S>, Token);
    }

    #[intrinsic = "PrintTile"]
    pub fn print_tko<E: ElementType, const S: [i32; N]>(str: &str, arg: Tile<E, S>, token: Option<Token>) -> Token;

    // Markers: modes of an operation, as unit structs. `()` stands for a mode that was left out.

    pub mod ftz {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Enabled;
        impl Mode for Enabled {}
        #[derive(Clone, Copy)]
        pub struct Disabled;
        impl Mode for Disabled {}
        impl Mode for () {}
    }
    pub mod nan {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Enabled;
        impl Mode for Enabled {}
        #[derive(Clone, Copy)]
        pub struct Disabled;
        impl Mode for Disabled {}
        impl Mode for () {}
    }
    pub mod rounding {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct NearestEven;
        impl Mode for NearestEven {}
        #[derive(Clone, Copy)]
        pub struct NearestAway;
        impl Mode for NearestAway {}
        #[derive(Clone, Copy)]
        pub struct NearestIntToZero;
        impl Mode for NearestIntToZero {}
        #[derive(Clone, Copy)]
        pub struct PositiveInf;
        impl Mode for PositiveInf {}
        #[derive(Clone, Copy)]
        pub struct NegativeInf;
        impl Mode for NegativeInf {}
        #[derive(Clone, Copy)]
        pub struct Zero;
        impl Mode for Zero {}
        #[derive(Clone, Copy)]
        pub struct Approx;
        impl Mode for Approx {}
        #[derive(Clone, Copy)]
        pub struct Full;
        impl Mode for Full {}
        impl Mode for () {}
    }
    pub mod reverse {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Forward;
        impl Mode for Forward {}
        #[derive(Clone, Copy)]
        pub struct Reverse;
        impl Mode for Reverse {}
    }
    pub mod signedness {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Signed;
        impl Mode for Signed {}
        #[derive(Clone, Copy)]
        pub struct Unsigned;
        impl Mode for Unsigned {}
    }
    pub mod padding {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct None;
        impl Mode for None {}
        #[derive(Clone, Copy)]
        pub struct Zero;
        impl Mode for Zero {}
        #[derive(Clone, Copy)]
        pub struct NegZero;
        impl Mode for NegZero {}
        #[derive(Clone, Copy)]
        pub struct Nan;
        impl Mode for Nan {}
        #[derive(Clone, Copy)]
        pub struct PosInf;
        impl Mode for PosInf {}
        #[derive(Clone, Copy)]
        pub struct NegInf;
        impl Mode for NegInf {}
    }
    pub mod dim_map {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Identity;
        impl Mode for Identity {}
        impl<'a, const P: [i32; N]> Mode for crate::core::Array<'a, P> {}
    }
    pub mod tma {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Enabled;
        impl Mode for Enabled {}
        #[derive(Clone, Copy)]
        pub struct Disabled;
        impl Mode for Disabled {}
    }
    pub mod saturating {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Enabled;
        impl Mode for Enabled {}
        #[derive(Clone, Copy)]
        pub struct Disabled;
        impl Mode for Disabled {}
    }
    pub mod fast_acc {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Enabled;
        impl Mode for Enabled {}
        #[derive(Clone, Copy)]
        pub struct Disabled;
        impl Mode for Disabled {}
    }
    pub mod ordering {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Weak;
        impl Mode for Weak {}
        #[derive(Clone, Copy)]
        pub struct Relaxed;
        impl Mode for Relaxed {}
        #[derive(Clone, Copy)]
        pub struct Acquire;
        impl Mode for Acquire {}
        #[derive(Clone, Copy)]
        pub struct Release;
        impl Mode for Release {}
        #[derive(Clone, Copy)]
        pub struct AcqRel;
        impl Mode for AcqRel {}
    }
    pub mod scope {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct TileBlock;
        impl Mode for TileBlock {}
        #[derive(Clone, Copy)]
        pub struct Device;
        impl Mode for Device {}
        #[derive(Clone, Copy)]
        pub struct System;
        impl Mode for System {}
    }
    pub mod overflow {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct None;
        impl Mode for None {}
        #[derive(Clone, Copy)]
        pub struct NoSignedWrap;
        impl Mode for NoSignedWrap {}
        #[derive(Clone, Copy)]
        pub struct NoUnsignedWrap;
        impl Mode for NoUnsignedWrap {}
        #[derive(Clone, Copy)]
        pub struct NoWrap;
        impl Mode for NoWrap {}
    }
    pub mod predicate {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Equal;
        impl Mode for Equal {}
        #[derive(Clone, Copy)]
        pub struct NotEqual;
        impl Mode for NotEqual {}
        #[derive(Clone, Copy)]
        pub struct LessThan;
        impl Mode for LessThan {}
        #[derive(Clone, Copy)]
        pub struct LessThanOrEqual;
        impl Mode for LessThanOrEqual {}
        #[derive(Clone, Copy)]
        pub struct GreaterThan;
        impl Mode for GreaterThan {}
        #[derive(Clone, Copy)]
        pub struct GreaterThanOrEqual;
        impl Mode for GreaterThanOrEqual {}
    }
    pub mod cmp_ordering {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Ordered;
        impl Mode for Ordered {}
        #[derive(Clone, Copy)]
        pub struct Unordered;
        impl Mode for Unordered {}
    }
    pub mod atomic {
        pub trait Mode {}
        #[derive(Clone, Copy)]
        pub struct Add;
        impl Mode for Add {}
        #[derive(Clone, Copy)]
        pub struct AddF;
        impl Mode for AddF {}
        #[derive(Clone, Copy)]
        pub struct And;
        impl Mode for And {}
        #[derive(Clone, Copy)]
        pub struct Or;
        impl Mode for Or {}
        #[derive(Clone, Copy)]
        pub struct Xor;
        impl Mode for Xor {}
        #[derive(Clone, Copy)]
        pub struct Max;
        impl Mode for Max {}
        #[derive(Clone, Copy)]
        pub struct Min;
        impl Mode for Min {}
        #[derive(Clone, Copy)]
        pub struct Umax;
        impl Mode for Umax {}
        #[derive(Clone, Copy)]
        pub struct Umin;
        impl Mode for Umin {}
        #[derive(Clone, Copy)]
        pub struct Xchg;
        impl Mode for Xchg {}
    }
}

// The peer's raw views.
pub mod tileir {
    pub use crate::core::*;

    pub trait View {
        type Element;
    }
    impl<E: ElementType, const S: [i32; N], const AXIS: i32> View for GatherScatterView<E, S, AXIS> { type Element = E; }
    impl<E: ElementType, const S: [i32; N], const STEPS: [i32; N], const MAP: [i32; N]> View for StridedView<E, S, STEPS, MAP> { type Element = E; }
    impl<E: ElementType, const S: [i32; N]> View for Partition<E, S> { type Element = E; }
    impl<E: ElementType, const S: [i32; N]> View for PartitionMut<E, S> { type Element = E; }

    #[lang = "GatherScatterView"]
    pub struct GatherScatterView<E: ElementType, const S: [i32; N], const AXIS: i32> {}
    #[lang = "StridedView"]
    pub struct StridedView<E: ElementType, const S: [i32; N], const STEPS: [i32; N], const MAP: [i32; N]> {}
    #[intrinsic = "AtomicView"]
    pub unsafe fn atomic_red_view_tko<E: ElementType, const S: [i32; N], const RANK: usize, M: atomic::Mode, O: ordering::Mode, C: scope::Mode>(view: &mut PartitionMut<E, S>, value: Tile<E, S>, index: [i32; RANK], mode: M, memory_ordering: O, memory_scope: C) -> Token;
    #[intrinsic = "RawView"]
    pub unsafe fn make_gather_scatter_view<E: ElementType, const T: [i32; N], const S: [i32; N], const AXIS: i32, P: padding::Mode>(tensor_view: &Tensor<E, T>, tile: Shape<S>, padding_value: P) -> GatherScatterView<E, S, AXIS>;
    #[intrinsic = "GatherView"]
    pub unsafe fn load_gather_scatter_view_tko<E: ElementType, const S: [i32; N], const AXIS: i32, const COUNT: i32, O: ordering::Mode, C: scope::Mode>(view: &GatherScatterView<E, S, AXIS>, sparse_index: Tile<i32, { [COUNT] }>, dense_index: i32, token: Token, memory_ordering: O, memory_scope: C) -> (Tile<E, S>, Token);
    #[intrinsic = "RawView"]
    pub unsafe fn make_strided_view<E: ElementType, const T: [i32; N], const S: [i32; N], const STEPS: [i32; N], const MAP: [i32; N], P: padding::Mode>(tensor_view: &Tensor<E, T>, tile: Shape<S>, padding_value: P) -> StridedView<E, S, STEPS, MAP>;
    #[intrinsic = "LoadStrided"]
    pub unsafe fn load_strided_view_tko<E: ElementType, const S: [i32; N], const STEPS: [i32; N], const MAP: [i32; N], const RANK: usize, O: ordering::Mode, C: scope::Mode>(view: &StridedView<E, S, STEPS, MAP>, index: [i32; RANK], token: Token, memory_ordering: O, memory_scope: C) -> (Tile<E, S>, Token);
    #[intrinsic = "LoadView"]
    pub unsafe fn load_view_raw<V: View, I, const S: [i32; N], const RANK: usize, O: ordering::Mode, C: scope::Mode, T: tma::Mode>(view: &V, index: I, token: Option<Token>, memory_ordering: O, memory_scope: C, tma: T, latency: Option<i32>, inbounds: [bool; RANK], shape: Shape<S>) -> (Tile<V::Element, S>, Token);
    #[intrinsic = "StoreView"]
    pub unsafe fn store_view_raw<V: View, I, const S: [i32; N], const RANK: usize, O: ordering::Mode, C: scope::Mode, T: tma::Mode>(view: &V, tile: Tile<V::Element, S>, index: I, token: Option<Token>, memory_ordering: O, memory_scope: C, tma: T, latency: Option<i32>, inbounds: [bool; RANK]) -> Token;
    #[intrinsic = "AtomicView"]
    pub unsafe fn atomic_red_view_raw<V: View, I, const S: [i32; N], M: atomic::Mode, O: ordering::Mode, C: scope::Mode>(view: &V, value: Tile<V::Element, S>, index: I, mode: M, memory_ordering: O, memory_scope: C, token: Option<Token>) -> Token;
}
