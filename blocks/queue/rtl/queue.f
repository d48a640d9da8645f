-f ../../stream/rtl/stream.f
../../memory/rtl/pst_ram_1r1w.sv
pst_queue_manager.sv
