/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_ROLES_H
#define PLIMSOLL_ENGINE_LLAMACPP_ROLES_H

/*
 * The roles of tensors, by name: the graph rules look up "the Q projection of layer 7", not a string.
 * Names: src/llama-arch.cpp (LLM_TENSOR_NAMES) of llama.cpp v0.5.0. Only the tensors the graph rules look at are here;
 * the others count as weights all the same.
 */

/* X(identifier, name between "blk.N." and ".weight"/".bias") */
#define PLIM_LAYER_ROLES(X)                                                                                            \
    X(ATTN_NORM, "attn_norm")                                                                                          \
    X(ATTN_NORM_2, "attn_norm_2")                                                                                      \
    X(ATTN_Q, "attn_q")                                                                                                \
    X(ATTN_K, "attn_k")                                                                                                \
    X(ATTN_V, "attn_v")                                                                                                \
    X(ATTN_QKV, "attn_qkv")                                                                                            \
    X(ATTN_OUT, "attn_output")                                                                                         \
    X(ATTN_GATE, "attn_gate")                                                                                          \
    X(ATTN_Q_NORM, "attn_q_norm")                                                                                      \
    X(ATTN_K_NORM, "attn_k_norm")                                                                                      \
    X(ATTN_OUT_NORM, "attn_output_norm")                                                                               \
    X(ATTN_POST_NORM, "post_attention_norm")                                                                           \
    X(ATTN_SUB_NORM, "attn_sub_norm")                                                                                  \
    X(ATTN_SINKS, "attn_sinks")                                                                                        \
    X(ATTN_O, "attn_o")                                                                                                \
    X(ATTN_REL_B, "attn_rel_b")                                                                                        \
    X(CROSS_ATTN_NORM, "cross_attn_norm")                                                                              \
    X(CROSS_ATTN_Q, "cross_attn_q")                                                                                    \
    X(CROSS_ATTN_K, "cross_attn_k")                                                                                    \
    X(CROSS_ATTN_V, "cross_attn_v")                                                                                    \
    X(CROSS_ATTN_O, "cross_attn_o")                                                                                    \
    X(ATTN_Q_A, "attn_q_a")                                                                                            \
    X(ATTN_Q_B, "attn_q_b")                                                                                            \
    X(ATTN_Q_A_NORM, "attn_q_a_norm")                                                                                  \
    X(ATTN_KV_A_MQA, "attn_kv_a_mqa")                                                                                  \
    X(ATTN_KV_A_NORM, "attn_kv_a_norm")                                                                                \
    X(ATTN_KV_B, "attn_kv_b")                                                                                          \
    X(ATTN_K_B, "attn_k_b")                                                                                            \
    X(ATTN_V_B, "attn_v_b")                                                                                            \
    X(FFN_NORM, "ffn_norm")                                                                                            \
    X(FFN_NORM_EXPS, "ffn_norm_exps")                                                                                  \
    X(FFN_POST_NORM, "post_ffw_norm")                                                                                  \
    X(FFN_POST_NORM_1, "post_ffw_norm_1")                                                                              \
    X(FFN_POST_NORM_2, "post_ffw_norm_2")                                                                              \
    X(FFN_PRE_NORM_2, "pre_ffw_norm_2")                                                                                \
    X(FFN_SUB_NORM, "ffn_sub_norm")                                                                                    \
    X(FFN_GATE, "ffn_gate")                                                                                            \
    X(FFN_UP, "ffn_up")                                                                                                \
    X(FFN_DOWN, "ffn_down")                                                                                            \
    X(FFN_ACT, "ffn.act")                                                                                              \
    X(FFN_GATE_INP, "ffn_gate_inp")                                                                                    \
    X(FFN_GATE_EXPS, "ffn_gate_exps")                                                                                  \
    X(FFN_UP_EXPS, "ffn_up_exps")                                                                                      \
    X(FFN_DOWN_EXPS, "ffn_down_exps")                                                                                  \
    X(FFN_GATE_UP_EXPS, "ffn_gate_up_exps")                                                                            \
    X(FFN_EXP_PROBS_B, "exp_probs_b")                                                                                  \
    X(FFN_GATE_INP_SHEXP, "ffn_gate_inp_shexp")                                                                        \
    X(FFN_GATE_SHEXP, "ffn_gate_shexp")                                                                                \
    X(FFN_UP_SHEXP, "ffn_up_shexp")                                                                                    \
    X(FFN_DOWN_SHEXP, "ffn_down_shexp")                                                                                \
    X(FFN_GATE_CHEXPS, "ffn_gate_chexps")                                                                              \
    X(FFN_UP_CHEXPS, "ffn_up_chexps")                                                                                  \
    X(FFN_DOWN_CHEXPS, "ffn_down_chexps")                                                                              \
    X(FFN_LATENT_DOWN, "ffn_latent_down")                                                                              \
    X(FFN_LATENT_UP, "ffn_latent_up")                                                                                  \
    X(LAYER_OUT_NORM, "layer_output_norm")                                                                             \
    X(LAYER_OUT_SCALE, "layer_output_scale")                                                                           \
    X(SSM_IN, "ssm_in")                                                                                                \
    X(SSM_CONV1D, "ssm_conv1d")                                                                                        \
    X(SSM_X, "ssm_x")                                                                                                  \
    X(SSM_DT, "ssm_dt")                                                                                                \
    X(SSM_A, "ssm_a")                                                                                                  \
    X(SSM_D, "ssm_d")                                                                                                  \
    X(SSM_OUT, "ssm_out")                                                                                              \
    X(SSM_NORM, "ssm_norm")                                                                                            \
    X(SSM_DT_NORM, "ssm_dt_norm")                                                                                      \
    X(SSM_B_NORM, "ssm_b_norm")                                                                                        \
    X(SSM_C_NORM, "ssm_c_norm")                                                                                        \
    X(SSM_BETA_ALPHA, "ssm_ba")                                                                                        \
    X(SSM_BETA, "ssm_beta")                                                                                            \
    X(SSM_ALPHA, "ssm_alpha")                                                                                          \
    X(SSM_CONV1D_Q, "ssm_conv1d_q")                                                                                    \
    X(SSM_CONV1D_K, "ssm_conv1d_k")                                                                                    \
    X(SSM_CONV1D_V, "ssm_conv1d_v")                                                                                    \
    X(SSM_F_A, "ssm_f_a")                                                                                              \
    X(SSM_F_B, "ssm_f_b")                                                                                              \
    X(SSM_G_A, "ssm_g_a")                                                                                              \
    X(SSM_G_B, "ssm_g_b")                                                                                              \
    X(SHORTCONV_CONV, "shortconv.conv")                                                                                \
    X(SHORTCONV_INPROJ, "shortconv.in_proj")                                                                           \
    X(SHORTCONV_OUTPROJ, "shortconv.out_proj")                                                                         \
    X(TIME_MIX_W0, "time_mix_w0")                                                                                      \
    X(TIME_MIX_W1, "time_mix_w1")                                                                                      \
    X(TIME_MIX_W2, "time_mix_w2")                                                                                      \
    X(TIME_MIX_A0, "time_mix_a0")                                                                                      \
    X(TIME_MIX_A1, "time_mix_a1")                                                                                      \
    X(TIME_MIX_A2, "time_mix_a2")                                                                                      \
    X(TIME_MIX_V0, "time_mix_v0")                                                                                      \
    X(TIME_MIX_V1, "time_mix_v1")                                                                                      \
    X(TIME_MIX_V2, "time_mix_v2")                                                                                      \
    X(TIME_MIX_G1, "time_mix_g1")                                                                                      \
    X(TIME_MIX_G2, "time_mix_g2")                                                                                      \
    X(TIME_MIX_K_K, "time_mix_k_k")                                                                                    \
    X(TIME_MIX_K_A, "time_mix_k_a")                                                                                    \
    X(TIME_MIX_R_K, "time_mix_r_k")                                                                                    \
    X(TIME_MIX_LERP_X, "time_mix_lerp_x")                                                                              \
    X(TIME_MIX_LERP_W, "time_mix_lerp_w")                                                                              \
    X(TIME_MIX_LERP_K, "time_mix_lerp_k")                                                                              \
    X(TIME_MIX_LERP_V, "time_mix_lerp_v")                                                                              \
    X(TIME_MIX_LERP_R, "time_mix_lerp_r")                                                                              \
    X(TIME_MIX_LERP_G, "time_mix_lerp_g")                                                                              \
    X(TIME_MIX_LERP_FUSED, "time_mix_lerp_fused")                                                                      \
    X(TIME_MIX_FIRST, "time_mix_first")                                                                                \
    X(TIME_MIX_DECAY, "time_mix_decay")                                                                                \
    X(TIME_MIX_DECAY_W1, "time_mix_decay_w1")                                                                          \
    X(TIME_MIX_DECAY_W2, "time_mix_decay_w2")                                                                          \
    X(TIME_MIX_KEY, "time_mix_key")                                                                                    \
    X(TIME_MIX_VALUE, "time_mix_value")                                                                                \
    X(TIME_MIX_RECEPTANCE, "time_mix_receptance")                                                                      \
    X(TIME_MIX_GATE, "time_mix_gate")                                                                                  \
    X(TIME_MIX_LN, "time_mix_ln")                                                                                      \
    X(TIME_MIX_OUTPUT, "time_mix_output")                                                                              \
    X(CHANNEL_MIX_LERP_K, "channel_mix_lerp_k")                                                                        \
    X(CHANNEL_MIX_LERP_R, "channel_mix_lerp_r")                                                                        \
    X(CHANNEL_MIX_KEY, "channel_mix_key")                                                                              \
    X(CHANNEL_MIX_VALUE, "channel_mix_value")                                                                          \
    X(CHANNEL_MIX_RECEPTANCE, "channel_mix_receptance")                                                                \
    X(PER_LAYER_INP_GATE, "inp_gate")                                                                                  \
    X(PER_LAYER_PROJ, "proj")                                                                                          \
    X(PER_LAYER_POST_NORM, "post_norm")                                                                                \
    X(ALTUP_CORRECT_COEF, "altup_correct_coef")                                                                        \
    X(ALTUP_CORRECT_SCALE, "altup_correct_scale")                                                                      \
    X(ALTUP_PREDICT_COEF, "altup_predict_coef")                                                                        \
    X(ALTUP_ROUTER, "altup_router")                                                                                    \
    X(ALTUP_ROUTER_NORM, "altup_router_norm")                                                                          \
    X(LAUREL_L, "laurel_l")                                                                                            \
    X(LAUREL_R, "laurel_r")                                                                                            \
    X(LAUREL_POST_NORM, "laurel_post_norm")                                                                            \
    X(INDEXER_K_NORM, "indexer.k_norm")                                                                                \
    X(INDEXER_PROJ, "indexer.proj")                                                                                    \
    X(INDEXER_ATTN_K, "indexer.attn_k")                                                                                \
    X(INDEXER_ATTN_Q_B, "indexer.attn_q_b")                                                                            \
    X(INDEXER_Q_PROJ, "indexer.q_proj")                                                                                \
    X(INDEXER_K_PROJ, "indexer.k_proj")                                                                                \
    X(INDEXER_Q_NORM, "indexer.q_norm")

/* X(identifier, name without ".weight"/".bias") */
#define PLIM_GLOBAL_ROLES(X)                                                                                           \
    X(TOKEN_EMBD, "token_embd")                                                                                        \
    X(TOKEN_EMBD_NORM, "token_embd_norm")                                                                              \
    X(TOKEN_TYPES, "token_types")                                                                                      \
    X(POS_EMBD, "position_embd")                                                                                       \
    X(OUTPUT_NORM, "output_norm")                                                                                      \
    X(ENC_OUTPUT_NORM, "enc.output_norm")                                                                              \
    X(DEC_OUTPUT_NORM, "dec.output_norm")                                                                              \
    X(OUTPUT, "output")                                                                                                \
    X(ROPE_FREQS, "rope_freqs")                                                                                        \
    X(ROPE_FACTORS_LONG, "rope_factors_long")                                                                          \
    X(ROPE_FACTORS_SHORT, "rope_factors_short")                                                                        \
    X(PER_LAYER_TOKEN_EMBD, "per_layer_token_embd")                                                                    \
    X(PER_LAYER_MODEL_PROJ, "per_layer_model_proj")                                                                    \
    X(PER_LAYER_PROJ_NORM, "per_layer_proj_norm")                                                                      \
    X(ALTUP_PROJ, "altup_proj")                                                                                        \
    X(ALTUP_UNEMBD_PROJ, "altup_unembd_proj")                                                                          \
    X(CLS, "cls")                                                                                                      \
    X(CLS_OUT, "cls.output")                                                                                           \
    X(CLS_NORM, "cls.norm")                                                                                            \
    X(DENSE_2_OUT, "dense_2")                                                                                          \
    X(DENSE_3_OUT, "dense_3")

#define PLIM_TENSOR_ROLE_ENUM(id, name) PLIM_TENSOR_ROLE_##id,
enum plim_tensor_role { PLIM_LAYER_ROLES(PLIM_TENSOR_ROLE_ENUM) PLIM_TENSOR_ROLE_MAX_ };
#undef PLIM_TENSOR_ROLE_ENUM

#define PLIM_GLOBAL_ENUM(id, name) PLIM_GLOBAL_##id,
enum plim_global { PLIM_GLOBAL_ROLES(PLIM_GLOBAL_ENUM) PLIM_GLOBAL_MAX_ };
#undef PLIM_GLOBAL_ENUM

/* The role of a layer tensor's middle name ("attn_q"), PLIM_TENSOR_ROLE_MAX_ when it has none here. */
enum plim_tensor_role plim_tensor_role_named(const char *name, unsigned length);
enum plim_global plim_global_named(const char *name, unsigned length);

#endif
