// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Models of AQMs by their names: those of blocks/aqm/<part> are compiled in, others come from a library.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "aqm_model.hpp"

namespace penstock {

// What makes models of the AQM `name`: of the one that is compiled in, or if `library` is not empty of the one in that file. It stays
// loaded. Throws std::invalid_argument with a sentence: there is no such AQM, the file does not load, it is no model of an AQM, or it was
// made for another version of the interface.
const AqmFactory& find_aqm(const std::string& name, const std::string& library);

// A model for so many queues. Throws std::invalid_argument with a sentence when it refuses its numbers.
std::shared_ptr<AqmModel> make_aqm(const AqmFactory& factory, std::uint32_t queues, const std::map<std::string, std::int64_t>& numbers);

}  // namespace penstock
