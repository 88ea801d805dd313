// SPDX-License-Identifier: MIT
//! Memory, a kernel of NVRTC, a product of cuBLAS and an out of memory with cudarc, on which candle and burn are built.
use cudarc::cublas::{CudaBlas, Gemm, GemmConfig};
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::compile_ptx;

const KERNEL: &str = r#"
extern "C" __global__ void twice(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let n = 1 << 20;
    let a = stream.clone_htod(&vec![1f32; n])?;
    let mut b = stream.alloc_zeros::<f32>(n)?;

    let twice = context.load_module(compile_ptx(KERNEL)?)?.load_function("twice")?;
    let count = n as i32;
    let mut launch = stream.launch_builder(&twice);
    launch.arg(&mut b).arg(&a).arg(&count);
    unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32)) }?;

    let mut c = stream.alloc_zeros::<f32>(n)?;
    let blas = CudaBlas::new(stream.clone())?;
    let none = cudarc::cublas::sys::cublasOperation_t::CUBLAS_OP_N;
    let product = GemmConfig { transa: none, transb: none, m: 1024, n: 1024, k: 1024, alpha: 1.0, lda: 1024, ldb: 1024, beta: 0.0, ldc: 1024 };
    unsafe { blas.gemm(product, &a, &b, &mut c) }?;
    let back = stream.clone_dtoh(&a)?;
    stream.synchronize()?;

    let (free, total) = cudarc::driver::result::mem_get_info()?;
    let too_much = stream.alloc_zeros::<u8>(total);
    println!("cudarc: {} {} {}", back[n - 1], total - free >= 12 << 20, too_much.is_err());
    Ok(())
}
