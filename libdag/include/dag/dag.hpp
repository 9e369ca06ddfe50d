#pragma once
// Everything a job needs: #include <dag/dag.hpp>.

#include "dag/blob.hpp"
#include "dag/codec.hpp"
#include "dag/context.hpp"
#include "dag/error.hpp"
#include "dag/graph.hpp"
#include "dag/options.hpp"
#include "dag/ref.hpp"
#include "dag/session.hpp"
