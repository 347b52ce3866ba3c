/// A simulator that cannot start, or that did not get what was waited for.
public struct APNsSimulationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong. More may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// A line of a file of faults cannot be read.
    public static let invalidFault = Code(description: "invalidFault")
    /// A script cannot be read.
    public static let invalidScript = Code(description: "invalidScript")
    /// Certificate, port or file cannot be had.
    public static let notStarted = Code(description: "notStarted")
    /// The pushes that were waited for did not come in time.
    public static let timedOut = Code(description: "timedOut")
    /// The simulator was stopped while somebody waited.
    public static let stopped = Code(description: "stopped")
    /// A line is not one that a received push writes.
    public static let invalidLine = Code(description: "invalidLine")
  }

  public var code: Code
  /// What was wrong, with which value, for people.
  public var reason: String

  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
