import Testing

@testable import Storage

extension SQLStore {
  /// What a store has that several servers may have open.
  var sharedCluster: ClusterService {
    get throws { try #require(cluster) }
  }
}
