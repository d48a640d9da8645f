-f ../../common/rtl/common.f
../../common/rtl/pst_axi_pkg.sv
pst_count_pkg.sv
pst_counter_bank.sv
pst_drop_counters.sv
pst_interrupt.sv
pst_busiest.sv
pst_fold_bank.sv
pst_fold_store.sv
pst_folded_counters.sv
