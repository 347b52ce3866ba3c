import Glibc

/// How many files and sockets the process may have open.
enum DescriptorLimit {
  /// What a server has open besides connections: the store's files, and its own to others.
  static let others = 256

  /// Raises the soft limit so that `connections` fit beside the process's other files, as far as
  /// the hard limit allows; returns how many do fit.
  static func raise(forConnections connections: Int) -> Int {
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

extension HTTPServer {
  /// How many connections a process may take that may have so many files open.
  public static func connections(withDescriptors descriptors: Int) -> Int {
    min(Configuration().maximumConnections, max(16, descriptors - DescriptorLimit.others))
  }
}
