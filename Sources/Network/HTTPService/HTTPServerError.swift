/// The server could not do what it was asked.
public struct HTTPServerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of thing went wrong. More may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// Another program listens at the address and port.
    public static let addressInUse = Code(description: "addressInUse")
    /// The address is not a numeric one of this machine, or the port is out of range.
    public static let invalidAddress = Code(description: "invalidAddress")
    /// The system does not let the process listen there, for another reason.
    public static let cannotBind = Code(description: "cannotBind")
    /// The system has no threads or descriptors left for the server.
    public static let cannotStart = Code(description: "cannotStart")
    /// The server was started before; each is started once.
    public static let alreadyStarted = Code(description: "alreadyStarted")
    /// A limit in the configuration makes no sense.
    public static let invalidConfiguration = Code(description: "invalidConfiguration")
    /// The peer of a stream is gone.
    public static let connectionClosed = Code(description: "connectionClosed")
  }

  public var code: Code
  /// What is wrong, with the offending value, and what to do.
  public var reason: String

  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
