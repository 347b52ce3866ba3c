import Testing

@testable import Storage

extension Store {
  /// The cluster services of a store that several servers may open.
  var sharedCluster: ClusterService {
    get throws { try #require(servers) }
  }
}
