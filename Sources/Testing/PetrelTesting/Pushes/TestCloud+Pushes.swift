extension TestCloud {
  /// The pushes that the devices receive, from the first, as they come. See ``TestPushes``.
  ///
  /// A test that asks what came of its changes is better off with ``pushes(to:device:)``, which knows
  /// when all has come.
  public var pushes: TestPushes { TestPushes(log: log) }

  /// The pushes that a user's devices have received since the cloud was started, oldest first, once
  /// all has had its effect (``settle()``).
  ///
  /// - Parameter device: only those to this device; nil means all of the user's.
  public func pushes(to user: String, device: String? = nil) async -> [TestPush] {
    await settledPushes().filter { $0.user == user && (device == nil || $0.device == device) }
  }

  /// The pushes to all devices since the cloud was started, oldest first, once all has had its effect
  /// (``settle()``). At most ``Configuration/pushLimit``, the latest.
  public func settledPushes() async -> [TestPush] {
    await settle()
    return log.all
  }
}
