-f ../../stream/rtl/stream.f
-f ../../memory/rtl/memory.f
pst_counter_bank.sv
pst_drop_counters.sv
