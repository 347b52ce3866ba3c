extension TestCloud {
  /// The pushes that the devices receive, from the first one on, while they arrive. See
  /// ``TestPushes``.
  ///
  /// To check the effects of changes, use ``pushes(to:device:)``, which returns when all pushes
  /// have arrived.
  public var pushes: TestPushes { TestPushes(log: log) }

  /// Returns the pushes that a user's devices have received since the cloud was started, oldest
  /// first. It first waits until all changes have had their effects (``settle()``).
  ///
  /// - Parameter device: the only device whose pushes are returned; nil for all of the user's.
  public func pushes(to user: String, device: String? = nil) async -> [TestPush] {
    await settledPushes().filter { $0.user == user && (device == nil || $0.device == device) }
  }

  /// Returns the pushes to all devices since the cloud was started, oldest first: at most the
  /// latest ``Configuration/pushLimit``. It first waits until all changes have had their effects
  /// (``settle()``).
  public func settledPushes() async -> [TestPush] {
    await settle()
    return log.all
  }
}
