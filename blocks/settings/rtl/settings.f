-f ../../common/rtl/common.f
pst_setting_profiles.sv
