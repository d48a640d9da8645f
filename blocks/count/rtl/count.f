-f ../../common/rtl/common.f
pst_counter_bank.sv
pst_drop_counters.sv
pst_interrupt.sv
pst_busiest.sv
