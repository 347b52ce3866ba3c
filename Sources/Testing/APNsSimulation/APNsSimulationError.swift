/// A failure of a simulator to start, to read a script, or to receive the expected pushes.
public struct APNsSimulationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure. Codes may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    /// A line of a file of faults cannot be parsed (``FaultInstruction``).
    public static let invalidFault = Code(description: "invalidFault")
    /// A script cannot be parsed (``SimulatorScript``).
    public static let invalidScript = Code(description: "invalidScript")
    /// The server's certificate cannot be issued, the authority's certificate cannot be written, or
    /// the address cannot be used.
    public static let notStarted = Code(description: "notStarted")
    /// The expected pushes did not come in time.
    public static let timedOut = Code(description: "timedOut")
    /// The simulator was stopped while a caller waited for pushes.
    public static let stopped = Code(description: "stopped")
    /// A line does not have the format of ``ReceivedPush/jsonLine``.
    public static let invalidLine = Code(description: "invalidLine")
  }

  /// The kind of failure.
  public var code: Code
  /// A sentence for a person to read, with the rule and the refused value.
  public var reason: String

  /// Creates a failure.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
