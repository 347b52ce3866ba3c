extension TestCloud {
  /// The pushes that the devices receive, as an asynchronous sequence from the first push on. See
  /// ``TestPushes``.
  ///
  /// To check the effects of changes, use ``pushes(to:device:)``, which waits until all pushes have
  /// arrived.
  public var pushes: TestPushes { TestPushes(log: log) }

  /// Returns the pushes that a user's devices have received since the cloud was started, oldest
  /// first. First waits until all changes have had their effects (``settle()``). The cloud keeps
  /// the latest ``Configuration/pushLimit`` pushes of all users.
  ///
  /// - Parameter device: the name of the device whose pushes are returned; nil for all devices of
  ///   the user.
  public func pushes(to user: String, device: String? = nil) async -> [TestPush] {
    await settledPushes().filter { $0.user == user && (device == nil || $0.device == device) }
  }

  /// Returns the pushes to all devices since the cloud was started, oldest first: at most the
  /// latest ``Configuration/pushLimit``. First waits until all changes have had their effects
  /// (``settle()``).
  public func settledPushes() async -> [TestPush] {
    await settle()
    return log.all
  }
}
