/// The failure of an ``HTTPServer``, or of a write to one of its streams.
public struct HTTPServerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure. Later versions may add codes.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// Another program listens at the address and port, or at the file.
    public static let addressInUse = Code(description: "addressInUse")
    /// The address is not a numeric one of this machine, the port is out of range, or the path
    /// cannot be a socket's.
    public static let invalidAddress = Code(description: "invalidAddress")
    /// The system does not let the process listen there, for another reason.
    public static let cannotBind = Code(description: "cannotBind")
    /// The system has no threads or descriptors left for the server.
    public static let cannotStart = Code(description: "cannotStart")
    /// The server was started before. A server starts once.
    public static let alreadyStarted = Code(description: "alreadyStarted")
    /// A number of the configuration is out of its range.
    public static let invalidConfiguration = Code(description: "invalidConfiguration")
    /// The client of a stream is gone, or the server stops.
    public static let connectionClosed = Code(description: "connectionClosed")
  }

  /// The kind of failure.
  public var code: Code
  /// The description of the failure, with the refused value and often the remedy, for a person to
  /// read.
  public var reason: String

  /// Creates an error.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
