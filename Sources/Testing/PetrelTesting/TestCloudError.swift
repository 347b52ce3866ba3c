/// The failure of a ``TestCloud`` to start, or to create a user or a device.
public struct TestCloudError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure. Codes may be added.
  public struct Code: Sendable, Hashable {
    let name: String

    /// The store in memory cannot be created.
    public static let cannotStart = Code(name: "cannotStart")
    /// A user cannot be created, or a device cannot be registered.
    public static let notPrepared = Code(name: "notPrepared")
  }

  /// The kind of failure.
  public var code: Code
  /// A description of the failure for a person to read.
  public var reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
