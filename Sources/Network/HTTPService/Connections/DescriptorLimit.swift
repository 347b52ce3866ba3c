import Glibc

/// The limit of files and sockets that the process may have open (RLIMIT_NOFILE).
enum DescriptorLimit {
  /// The descriptors that a server needs beside its clients' connections: the store's files and its
  /// own outgoing connections.
  static let others = 256

  /// Raises the soft limit for `connections` beside the other descriptors, up to the hard limit.
  /// Returns the number that fits, at least 16; `connections` if the limit is unknown.
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
  /// Returns the number of connections that a process with this limit of descriptors accepts by
  /// default, at least 16.
  public static func connections(withDescriptors descriptors: Int) -> Int {
    min(Configuration().maximumConnections, max(16, descriptors - DescriptorLimit.others))
  }
}
