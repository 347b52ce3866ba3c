import Testing

@testable import Storage

extension SQLStore {
  /// The cluster services of a store that several servers may open.
  var sharedCluster: ClusterService {
    get throws { try #require(cluster) }
  }
}
