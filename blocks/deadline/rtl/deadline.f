-f ../../common/rtl/common.f
../../memory/rtl/pst_memory_pkg.sv
pst_deadline_pkg.sv
