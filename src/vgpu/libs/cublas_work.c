/* SPDX-License-Identifier: MIT */
/*
 * libcublas: the functions that take a handle first and write device memory only, by families of the BLAS. Each has a
 * form for 64-bit sizes. The batched factorizations write their error codes into device memory, too; those that report
 * them to the host are in cublas_host.c.
 */
#include "vgpu/libs/cublas.h"

#define ONE(name)                                                                                                      \
    status cublas##name(const void *handle) { return plim_cublas_run(handle); }
#define BOTH(name) ONE(name) ONE(name##_64)
/* Real, complex, all four types; _v2 is the interface with handles where an older one has the plain name. */
#define REAL(name, suffix)    BOTH(S##name##suffix) BOTH(D##name##suffix)
#define COMPLEX(name, suffix) BOTH(C##name##suffix) BOTH(Z##name##suffix)
#define FOUR(name, suffix)    REAL(name, suffix) COMPLEX(name, suffix)

/* --- vectors: what returns a number is in cublas_host.c --- */

FOUR(axpy, _v2)
FOUR(copy, _v2)
FOUR(swap, _v2)
FOUR(scal, _v2)
FOUR(rot, _v2)
REAL(rotm, _v2)
BOTH(Csscal_v2)
BOTH(Zdscal_v2)
BOTH(Csrot_v2)
BOTH(Zdrot_v2)
BOTH(AxpyEx)
BOTH(CopyEx)
BOTH(SwapEx)
BOTH(ScalEx)
BOTH(RotEx)
BOTH(RotmEx)

/* --- matrix and vector --- */

FOUR(gemv, _v2)
FOUR(gbmv, _v2)
FOUR(trmv, _v2)
FOUR(tbmv, _v2)
FOUR(tpmv, _v2)
FOUR(trsv, _v2)
FOUR(tpsv, _v2)
FOUR(tbsv, _v2)
FOUR(symv, _v2)
COMPLEX(hemv, _v2)
REAL(sbmv, _v2)
COMPLEX(hbmv, _v2)
REAL(spmv, _v2)
COMPLEX(hpmv, _v2)
REAL(ger, _v2)
COMPLEX(geru, _v2)
COMPLEX(gerc, _v2)
FOUR(syr, _v2)
COMPLEX(her, _v2)
REAL(spr, _v2)
COMPLEX(hpr, _v2)
FOUR(syr2, _v2)
COMPLEX(her2, _v2)
REAL(spr2, _v2)
COMPLEX(hpr2, _v2)
FOUR(gemvBatched, )
FOUR(gemvStridedBatched, )
BOTH(HSHgemvBatched)
BOTH(HSSgemvBatched)
BOTH(TSTgemvBatched)
BOTH(TSSgemvBatched)
BOTH(HSHgemvStridedBatched)
BOTH(HSSgemvStridedBatched)
BOTH(TSTgemvStridedBatched)
BOTH(TSSgemvStridedBatched)

/* --- matrices --- */

FOUR(gemm, _v2)
BOTH(Hgemm)
COMPLEX(gemm3m, )
BOTH(Cgemm3mEx)
BOTH(SgemmEx)
BOTH(CgemmEx)
BOTH(GemmEx)
BOTH(Uint8gemmBias)
FOUR(syrk, _v2)
COMPLEX(herk, _v2)
FOUR(syr2k, _v2)
COMPLEX(her2k, _v2)
FOUR(syrkx, )
COMPLEX(herkx, )
BOTH(CsyrkEx)
BOTH(Csyrk3mEx)
BOTH(CherkEx)
BOTH(Cherk3mEx)
FOUR(symm, _v2)
COMPLEX(hemm, _v2)
FOUR(trsm, _v2)
FOUR(trmm, _v2)
FOUR(geam, )
FOUR(dgmm, )
FOUR(bdmm, )
FOUR(gemmBatched, )
FOUR(gemmStridedBatched, )
BOTH(HgemmBatched)
BOTH(HgemmStridedBatched)
BOTH(Cgemm3mBatched)
BOTH(Cgemm3mStridedBatched)
BOTH(GemmBatchedEx)
BOTH(GemmStridedBatchedEx)
REAL(gemmGroupedBatched, )
BOTH(GemmGroupedBatchedEx)
FOUR(trsmBatched, )
FOUR(tpttr, )
FOUR(trttp, )

/* --- batched factorizations: their info arrays are in device memory --- */

FOUR(getrfBatched, )
FOUR(getriBatched, )
FOUR(matinvBatched, )
