// Asio's own sources, compiled once for the whole project.
#include <boost/asio/impl/src.hpp>
