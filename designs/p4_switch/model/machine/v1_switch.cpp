// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What simple_switch does around the program's controls.
#include "designs/p4_switch/model/machine/v1_switch.hpp"

#include <algorithm>
#include <bit>

#include "designs/p4_switch/model/machine/state.hpp"

namespace penstock::p4 {

namespace {

constexpr std::uint32_t kHeadroom = 512;  // for headers that are added
constexpr std::uint32_t kMargin = 16;     // bytes behind a packet that may be read
constexpr std::size_t kCacheLine = 64;

std::uint64_t split_mix(std::uint64_t& state) {
    std::uint64_t value = state += 0x9E3779B97F4A7C15u;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

}  // namespace

Random::Random(std::uint64_t seed) {
    for (std::uint64_t& word : words_) word = split_mix(seed);
}

std::uint64_t Random::operator()() {
    const std::uint64_t result = std::rotl(words_[1] * 5, 7) * 9;
    const std::uint64_t shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = std::rotl(words_[3], 45);
    return result;
}

std::uint64_t Random::below_or_equal(std::uint64_t most) {
    if (most == ~std::uint64_t{0}) return (*this)();
    const std::uint64_t count = most + 1;
    const std::uint64_t unfair = (~count + 1) % count;  // 2^64 % count
    for (;;) {
        const std::uint64_t drawn = (*this)();
        if (drawn >= unfair) return drawn % count;
    }
}

void Packet::fill(std::span<const std::uint8_t> from) {
    const std::size_t need = kHeadroom + from.size();
    if (capacity < need) {
        capacity = static_cast<std::uint32_t>(std::bit_ceil(need + 1024));
        buffer = std::make_unique<std::uint8_t[]>(capacity + kMargin);
    }
    begin = kHeadroom;
    size = static_cast<std::uint32_t>(from.size());
    if (size) std::memcpy(buffer.get() + begin, from.data(), size);
}

void Packet::make_room(std::uint32_t headers) {
    const std::uint32_t payload = size - parsed;
    auto larger = std::make_unique<std::uint8_t[]>(headers + payload + 1024 + kMargin);
    std::memcpy(larger.get() + headers, buffer.get() + begin + parsed, payload);
    buffer = std::move(larger);
    capacity = headers + payload + 1024;
    begin = headers;
    size = payload;
    parsed = 0;
}

void Packet::forget() { clone = clone_fields = resubmit = recirculate = digest = 0; }

V1Switch::State::State(const Program& given, std::uint64_t seed)
    : program(given),
      tables(given.tables.begin(), given.tables.end()),
      profiles(given.profiles.size()),
      random(seed),
      scratch_(given.scratch + 1) {
    for (const ParserState& shape : program.states) cases.push_back(shape.cases);
    for (const Program::Register& shape : program.registers) registers.emplace_back(shape.size * ((shape.bits + 63) / 64));
    for (const std::uint64_t size : program.counters) counters.emplace_back(size);
    for (const Program::Meter& shape : program.meters) meters.emplace_back(shape.size);
}

std::int32_t V1Switch::State::apply(Packet& packet, std::size_t number) {
    MatchTable& table = tables[number];
    const TableShape& shape = table.shape();
    std::uint64_t key[kMostWords];
    std::vector<std::uint64_t> longer;
    std::uint64_t* words = key;
    if (shape.key.size() > kMostWords) [[unlikely]] {
        longer.resize(shape.key.size());
        words = longer.data();
    }
    for (std::size_t i = 0; i < shape.key.size(); ++i) words[i] = packet.values[shape.key[i].place] & shape.key[i].mask;
    Entry* entry = shape.key.empty() ? nullptr : table.find(words);
    const Entry* chosen = entry ? entry : &table.otherwise();
    if (entry) {
        if (shape.counters) {
            ++entry->packets;
            entry->bytes += packet.ingress_length;
        }
        if (shape.meter >= 0) {
            const std::uint64_t amount = program.meters[static_cast<std::size_t>(shape.meter)].bytes ? packet.ingress_length : 1;
            const std::uint64_t mask = shape.meter_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << shape.meter_bits) - 1;
            packet.values[shape.meter_place] = entry->meter.execute(passed_us, amount) & mask;
        }
    }
    std::int32_t action = chosen->action, next = chosen->next;
    const std::uint64_t* data = chosen->data.data();
    if (shape.profile >= 0 && (chosen->member >= 0 || chosen->group >= 0)) {
        const Profile& profile = profiles[static_cast<std::size_t>(shape.profile)];
        std::int32_t member = chosen->member;
        if (chosen->group >= 0) {
            const auto& members = profile.groups.at(chosen->group);
            if (members.empty()) return next;
            const std::int32_t calculation = program.profiles[static_cast<std::size_t>(shape.profile)];
            const std::uint64_t hash = calculate(program.calculations[static_cast<std::size_t>(calculation)], packet);
            member = members[hash % members.size()];
        }
        const Member& found = profile.members.at(member);
        action = found.action;
        data = found.data.data();
        const auto following = shape.next.find(action);
        if (following != shape.next.end()) next = entry ? following->second.hit : following->second.miss;
    }
    if (action >= 0) {
        const Action& code = program.actions[static_cast<std::size_t>(action)];
        if (!code.empty) run(code.code, packet, data);
    }
    return next;
}

void V1Switch::State::pipeline(Packet& packet, int which) { run(program.linked[which], packet); }

void V1Switch::State::keep_fields(const Packet& from, Packet& to, std::uint32_t list) const {
    const auto found = program.field_lists.find(list);
    if (found == program.field_lists.end()) return;
    for (std::size_t i = 0; i + 1 < found->second.size(); i += 2) {
        const std::uint32_t place = found->second[i] & 0xFFF'FFFF;
        std::memcpy(&to.values[place], &from.values[place], found->second[i + 1] * sizeof(std::uint64_t));
    }
}

V1Switch::V1Switch(std::shared_ptr<const Program> program, std::uint64_t seed)
    : program_(std::move(program)), state_(std::make_unique<State>(*program_, seed)) {}
V1Switch::~V1Switch() = default;

Packet* V1Switch::blank() {
    ++taken_;
    if (free_.empty()) {
        all_.push_back(std::make_unique<Packet>());
        all_.back()->values = std::make_unique<std::uint64_t[]>(program_->words);
        free_.push_back(all_.back().get());
    }
    Packet* packet = free_.back();
    free_.pop_back();
    packet->forget();
    packet->number = packet->user = 0;
    packet->copy = packet->recirculated = packet->exited = packet->parser_error = false;
    packet->parsed = packet->ingress_port = 0;
    packet->truncated = ~std::uint32_t{0};
    return packet;
}

Packet* V1Switch::take(std::span<const std::uint8_t> bytes) {
    Packet* packet = blank();
    packet->fill(bytes);
    packet->length = packet->ingress_length = packet->size;
    return packet;
}

void V1Switch::give_back(Packet* packet) {
    --taken_;
    free_.push_back(packet);
}

void V1Switch::draw(bool most) { state_->draw = most ? State::Draw::Most : State::Draw::Least; }

void V1Switch::blur(std::uint64_t seed) { blur_ = std::make_unique<Random>(seed); }

// No header is valid, no metadata set.
void V1Switch::clear(Packet& packet) {
    if (stale_) {
        const std::vector<std::uint64_t> before(packet.values.get(), packet.values.get() + program_->words);
        std::memset(packet.values.get(), 0, program_->words * sizeof(std::uint64_t));
        for (const HeaderShape& header : program_->headers) {
            if (header.metadata) continue;
            for (const HeaderField& field : header.fields) {
                if (field.variable) continue;
                const std::size_t at = header.base + field.place;
                std::copy_n(before.data() + at, (field.bits + 63) / 64, &packet.values[at]);
            }
        }
        return;
    }
    std::memset(packet.values.get(), 0, program_->words * sizeof(std::uint64_t));
    if (!blur_) return;
    for (const HeaderShape& header : program_->headers) {
        if (header.metadata) continue;
        for (const HeaderField& field : header.fields) {
            std::uint64_t* values = &packet.values[header.base + field.place];
            if (field.variable) *values++ = 8 * blur_->below_or_equal(field.bits / 8);
            for (std::uint32_t bits = field.bits; bits; bits -= std::min<std::uint32_t>(bits, 64))
                *values++ = (*blur_)() >> (bits < 64 ? 64 - bits : 0);
        }
    }
}

// The same bytes; `values`: with headers and metadata.
Packet* V1Switch::copy(const Packet& packet, bool values) {
    Packet* made = blank();
    made->fill(packet.bytes());
    made->number = packet.number;
    made->user = packet.user;
    made->copy = true;
    made->ingress_port = packet.ingress_port;
    made->ingress_length = packet.ingress_length;
    made->length = packet.length;
    if (values) {
        made->parsed = packet.parsed;
        made->truncated = packet.truncated;
        std::memcpy(made->values.get(), packet.values.get(), program_->words * sizeof(std::uint64_t));
    }
    return made;
}

void V1Switch::queue(Packet* packet, std::uint32_t port, std::vector<Queued>& out) const {
    out.push_back({packet, port, static_cast<std::uint32_t>(state_->get(*packet, Standard::Priority))});
}

// To all members of a group; `first`, if there is one, becomes the first copy. Returns how many.
unsigned V1Switch::multicast(Packet& packet, std::uint64_t group, Packet* first, std::vector<Queued>& out) {
    const auto found = state_->groups.find(group);
    if (found == state_->groups.end()) return 0;
    unsigned made = 0;
    for (const MulticastNode& node : found->second)
        for (const std::uint32_t port : node.ports) {
            Packet* member = first && !made ? first : copy(packet, true);
            member->forget();
            state_->set(*member, Standard::EgressRid, node.rid);
            queue(member, port, out);
            ++made;
        }
    return made;
}

void V1Switch::to_session(Packet* made, std::uint32_t session, std::vector<Queued>& out) {
    const MirrorSession& where = state_->mirrors.at(session);
    if (where.group >= 0) multicast(*made, static_cast<std::uint64_t>(where.group), nullptr, out);
    if (where.port >= 0)
        queue(made, static_cast<std::uint32_t>(where.port), out);
    else
        give_back(made);
}

Fate V1Switch::ingress(Packet* packet, std::uint32_t port, Time now, std::vector<Queued>& out) {
    State& state = *state_;
    state.passed_us = now.passed_us;
    if (!packet->recirculated) {
        clear(*packet);
        packet->ingress_port = port;
        state.set(*packet, Standard::IngressPort, port);
        state.set(*packet, Standard::PacketLength, packet->length);
        state.set(*packet, Standard::IngressTime, now.clock_us);
    }
    packet->recirculated = false;
    const std::uint32_t length = packet->length;
    for (unsigned round = 0;; ++round) {
        state.parse(*packet);
        parser_errors_ += packet->parser_error;
        state.pipeline(*packet, 0);
        asserts_failed_ = state.asserts_failed;
        packet->exited = false;
        const std::uint64_t spec = state.get(*packet, Standard::EgressSpec), group = state.get(*packet, Standard::McastGroup);
        if (packet->clone) {
            const std::uint32_t session = packet->clone & 0x7FFF;
            const std::uint32_t list = packet->clone_fields;
            packet->clone = packet->clone_fields = 0;
            if (state.mirrors.contains(session)) {
                Packet* made = copy(*packet, false);
                clear(*made);
                made->length = length;
                state.set(*made, Standard::IngressPort, packet->ingress_port);
                state.parse(*made);
                std::memset(made->values.get(), 0, program_->metadata_words * sizeof(std::uint64_t));
                state.keep_fields(*packet, *made, list);
                state.set(*made, Standard::InstanceType, static_cast<std::uint64_t>(Instance::IngressClone));
                to_session(made, session, out);
            }
        }
        digests_ += packet->digest != 0;
        packet->digest = 0;
        if (packet->resubmit) {
            if (round == kMaxResubmits) return Fate::TooManyRounds;
            const std::uint32_t list = packet->resubmit;
            Packet* before = blank();  // its values, of which some are kept
            std::swap(before->values, packet->values);
            clear(*packet);
            state.keep_fields(*before, *packet, list);
            give_back(before);
            state.set(*packet, Standard::InstanceType, static_cast<std::uint64_t>(Instance::Resubmitted));
            state.set(*packet, Standard::PacketLength, length);
            packet->forget();
            packet->length = length;
            packet->truncated = ~std::uint32_t{0};
            packet->parsed = 0;
            continue;
        }
        if (group) {
            state.set(*packet, Standard::InstanceType, static_cast<std::uint64_t>(Instance::Replicated));
            return multicast(*packet, group, packet, out) ? Fate::Queued : Fate::NoMembers;
        }
        if (spec == kDropPort) return Fate::Dropped;
        state.set(*packet, Standard::InstanceType, static_cast<std::uint64_t>(Instance::Normal));
        queue(packet, static_cast<std::uint32_t>(spec), out);
        return Fate::Queued;
    }
}

Verdict V1Switch::egress(Packet* packet, const QueueFacts& facts, Time now, std::vector<Queued>& clones) {
    State& state = *state_;
    // Where a thousand packets wait this one is not in the cache any more: all its lines at once, not one after the other.
    const char* const values = reinterpret_cast<const char*>(packet->values.get());
    for (std::size_t at = 0; at < program_->words * sizeof(std::uint64_t); at += kCacheLine) __builtin_prefetch(values + at, 1);
    __builtin_prefetch(packet->buffer.get() + packet->begin, 1);
    state.passed_us = now.passed_us;
    state.set(*packet, Standard::EgressTime, now.clock_us);
    state.set(*packet, Standard::EnqTime, facts.enq_timestamp_us);
    state.set(*packet, Standard::EnqDepth, facts.enq_qdepth);
    // Modulo the width of enq_timestamp: in v1model it has 32 bits, and the difference is right across its wrap.
    const std::uint64_t mask = program_->standard[static_cast<int>(Standard::EnqTime)].mask;
    state.set(*packet, Standard::DeqTimedelta, (now.clock_us - facts.enq_timestamp_us) & (mask ? mask : ~std::uint64_t{0}));
    state.set(*packet, Standard::DeqDepth, facts.deq_qdepth);
    state.set(*packet, Standard::Qid, facts.priority);
    state.set(*packet, Standard::EgressPort, facts.port);
    state.set(*packet, Standard::EgressSpec, kDropPort + 1);
    state.set(*packet, Standard::PacketLength, packet->length);
    packet->exited = false;
    state.pipeline(*packet, 1);
    asserts_failed_ = state.asserts_failed;
    if (packet->clone) {
        const std::uint32_t session = packet->clone & 0x7FFF;
        const std::uint32_t list = packet->clone_fields;
        packet->clone = packet->clone_fields = 0;
        if (state.mirrors.contains(session)) {
            Packet* made = copy(*packet, true);
            std::memset(made->values.get(), 0, program_->metadata_words * sizeof(std::uint64_t));
            state.keep_fields(*packet, *made, list);
            state.set(*made, Standard::InstanceType, static_cast<std::uint64_t>(Instance::EgressClone));
            to_session(made, session, clones);
        }
    }
    if (state.get(*packet, Standard::EgressSpec) == kDropPort) return Verdict::Drop;
    state.deparse(*packet);
    if (!packet->recirculate) return Verdict::Send;
    const std::uint32_t list = packet->recirculate;
    Packet* before = blank();
    std::swap(before->values, packet->values);
    clear(*packet);
    state.keep_fields(*before, *packet, list);
    give_back(before);
    packet->forget();
    packet->truncated = ~std::uint32_t{0};
    packet->length = packet->ingress_length = packet->size;
    state.set(*packet, Standard::InstanceType, static_cast<std::uint64_t>(Instance::Recirculated));
    state.set(*packet, Standard::PacketLength, packet->length);
    packet->recirculated = true;
    return Verdict::Recirculate;
}

}  // namespace penstock::p4
