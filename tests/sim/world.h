#pragma once

// The deterministic simulation: the real engine, fake ports, virtual time, one seed.
namespace flow::sim {}  // namespace flow::sim
