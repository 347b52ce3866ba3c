import Glibc

/// How many files and sockets the process may have open.
enum DescriptorLimit {
  /// Raises the soft limit so that `connections` fit beside the process's other files, as far as
  /// the hard limit allows; returns how many do fit.
  static func raise(forConnections connections: Int) -> Int {
    let others = 256
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return connections }
    let wanted = rlim_t(connections + others)
    if limit.rlim_cur < wanted, limit.rlim_cur < limit.rlim_max {
      limit.rlim_cur = min(wanted, limit.rlim_max)
      setrlimit(resource, &limit)
      getrlimit(resource, &limit)
    }
    guard limit.rlim_cur < wanted else { return connections }
    return max(16, Int(limit.rlim_cur) - others)
  }
}
