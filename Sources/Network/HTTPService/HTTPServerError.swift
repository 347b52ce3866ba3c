import Errors

/// The failure of an ``HTTPServer``, or of a write to one of its streams.
public typealias HTTPServerError = CodedError<HTTPServerErrorCode>

/// The codes of ``HTTPServerError``.
public enum HTTPServerErrorCode: String, ErrorCode {
  /// Another program listens at the address and port, or at the file.
  case addressInUse
  /// The address is not a numeric one of this machine, the port is out of range, or the path
  /// cannot be a socket's.
  case invalidAddress
  /// The system does not let the process listen there, for another reason.
  case cannotBind
  /// The system has no threads or descriptors left for the server.
  case cannotStart
  /// The server was started before. A server starts once.
  case alreadyStarted
  /// A number of the configuration is out of its range.
  case invalidConfiguration
  /// The client of a stream is gone, or the server stops.
  case connectionClosed
}
