// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/register_master.hpp"

#include <string>

#include "penstock/engine/device.hpp"

namespace penstock::engine {

void RegisterMaster::read(std::uint32_t address) {
    read_address_ = address;
    reading_ = true;
    read_address_taken_ = false;
}

void RegisterMaster::set(pst_pins& pins) {
    const bool offer = !pending_.empty() && outstanding_ < kOutstanding;
    pins.s_axil_awvalid_i = offer && !address_taken_;
    pins.s_axil_wvalid_i = offer && !data_taken_;
    pins.s_axil_bready_i = 1;
    if (offer) {
        pins.s_axil_awaddr_i = pending_.front().address;
        pins.s_axil_wdata_i = pending_.front().value;
        pins.s_axil_wstrb_i = 0xF;
    }
    // A read overtakes no write.
    pins.s_axil_arvalid_i = reading_ && !read_address_taken_ && pending_.empty() && !outstanding_;
    pins.s_axil_araddr_i = read_address_;
    pins.s_axil_rready_i = 1;
}

void RegisterMaster::handle(pst_pins& pins) {
    ++stuck_;
    if (pins.s_axil_bvalid_o && pins.s_axil_bready_i) {
        if (!outstanding_) throw DeviceError("registers: a write response without a write");
        if (pins.s_axil_bresp_o) throw DeviceError("registers: a write got an error response");
        --outstanding_;
        stuck_ = 0;
    }
    if (pins.s_axil_awvalid_i && pins.s_axil_awready_o) address_taken_ = true, stuck_ = 0;
    if (pins.s_axil_wvalid_i && pins.s_axil_wready_o) data_taken_ = true, stuck_ = 0;
    if (address_taken_ && data_taken_) {
        pending_.pop_front();
        ++outstanding_;
        address_taken_ = data_taken_ = false;
    }
    if (pins.s_axil_arvalid_i && pins.s_axil_arready_o) read_address_taken_ = true, stuck_ = 0;
    if (pins.s_axil_rvalid_o && pins.s_axil_rready_i) {
        if (!read_address_taken_) throw DeviceError("registers: read data without a read");
        if (pins.s_axil_rresp_o) throw DeviceError("registers: a read of " + std::to_string(read_address_) + " got an error response");
        value_ = pins.s_axil_rdata_o;
        reading_ = false;
        read_address_taken_ = false;
        stuck_ = 0;
    }
    if (idle()) {
        pins.s_axil_awvalid_i = pins.s_axil_wvalid_i = pins.s_axil_arvalid_i = 0;
        stuck_ = 0;
    }
}

}  // namespace penstock::engine
