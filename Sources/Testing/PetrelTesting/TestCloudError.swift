/// Why a ``TestCloud`` cannot do what it was asked for.
public struct TestCloudError: Error, Sendable, Hashable, CustomStringConvertible {
  public struct Code: Sendable, Hashable {
    let name: String

    /// The store in memory cannot be made.
    public static let cannotStart = Code(name: "cannotStart")
    /// A user or a device cannot be made.
    public static let notPrepared = Code(name: "notPrepared")
  }

  public var code: Code
  /// What was wrong.
  public var reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
