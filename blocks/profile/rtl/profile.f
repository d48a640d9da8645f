-f ../../common/rtl/common.f
../../parse/rtl/pst_parse_pkg.sv
-f ../../lookup/rtl/lookup.f
pst_profile_pkg.sv
pst_profile.sv
pst_subscriber.sv
