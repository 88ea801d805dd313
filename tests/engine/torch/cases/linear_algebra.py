# SPDX-License-Identifier: MIT
"""cuBLAS, cuBLASLt, cuFFT, cuSOLVER, cuSPARSE and cuSPARSELt as PyTorch calls them; results have the right shapes."""
import told
import torch


def random(*size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*size, device="cuda", dtype=dtype)


def products() -> None:
    matrix, vector = random(8, 8, dtype=torch.complex64), random(8, dtype=torch.complex64)
    for result in matrix @ matrix, torch.addmv(vector, matrix, vector), torch.dot(vector, vector), torch.vdot(vector, vector):
        assert result.is_cuda
    torch.baddbmm(random(2, 8, 8), random(2, 8, 8), random(2, 8, 8))
    layer = torch.nn.Linear(64, 64).cuda().half()
    torch._addmm_activation(layer.bias, random(8, 64, dtype=torch.half), layer.weight.t(), use_gelu=True)
    eighth, one = random(64, 64).to(torch.float8_e4m3fn), torch.ones((), device="cuda")
    torch._scaled_mm(eighth, eighth.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    whole = torch.ones(64, 64, device="cuda", dtype=torch.int8)
    assert torch._int_mm(whole, whole).dtype == torch.int32


def transforms() -> None:
    signal = random(8, 1024)
    assert torch.fft.irfft(torch.fft.rfft(signal)).shape == signal.shape
    torch.fft.fft2(random(4, 64, 64))
    torch.fft.fft(random(100, dtype=torch.complex128))
    torch.stft(signal, 256, window=torch.hann_window(256, device="cuda"), return_complex=True)


def decompositions() -> None:
    unit, units = torch.eye(64, device="cuda"), torch.eye(16, device="cuda").repeat(5, 1, 1)
    torch.linalg.solve(unit, random(64, 8))
    torch.linalg.solve_triangular(unit, random(64, 8), upper=True)
    torch.lu_solve(random(8, 2), torch.eye(8, device="cuda"), torch.arange(1, 9, device="cuda", dtype=torch.int))
    for matrix in unit, units:
        torch.linalg.inv(matrix)
        torch.linalg.cholesky(matrix)
        torch.linalg.eigh(matrix)
        torch.linalg.svd(matrix)
        torch.linalg.qr(matrix)
    torch.cholesky_solve(random(64, 2), unit)
    torch.linalg.lstsq(random(32, 16), random(32, 2))
    torch.linalg.ldl_factor(unit)
    torch.ormqr(random(8, 8), random(8), random(8, 8))


def sparse() -> None:
    rows, pairs = torch.eye(64).to_sparse_csr().cuda(), torch.eye(64).to_sparse().cuda()
    assert (rows @ random(64, 8)).shape == (64, 8)
    rows @ random(64)
    assert (rows @ rows)._nnz() == 64  # evenly filled ones have as many
    assert (rows + rows.clone())._nnz() == 128  # at most
    torch.sparse.mm(pairs, random(64, 8))
    torch.sparse.sampled_addmm(rows, random(64, 8), random(8, 64))
    half = torch.tensor([0, 0, 1, 1], dtype=torch.half).tile((128, 32)).cuda()
    torch.sparse.SparseSemiStructuredTensor._FORCE_CUTLASS = False
    torch.mm(torch.sparse.to_sparse_semi_structured(half), random(128, 128, dtype=torch.half))


for part in products, transforms, decompositions, sparse:
    part()
torch.cuda.synchronize()
told.reserved()
