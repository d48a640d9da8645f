-f ../../common/rtl/common.f
pst_lookup_pkg.sv
pst_lookup_ram.sv
pst_lookup_mix.sv
pst_lookup_stash.sv
pst_lookup_update.sv
pst_lookup_prefix.sv
pst_lookup.sv
