import Errors

/// A failure of a simulator to start, to read a script, or to receive the expected pushes.
public typealias APNsSimulationError = CodedError<APNsSimulationErrorCode>

/// The codes of ``APNsSimulationError``.
public enum APNsSimulationErrorCode: String, ErrorCode {
  /// A line of a file of faults cannot be parsed (``FaultInstruction``).
  case invalidFault
  /// A script cannot be parsed (``SimulatorScript``).
  case invalidScript
  /// The server's certificate cannot be issued, the authority's certificate cannot be written, or
  /// the address cannot be used.
  case notStarted
  /// The expected pushes did not come in time.
  case timedOut
  /// The simulator was stopped while a caller waited for pushes.
  case stopped
  /// A line does not have the format of ``ReceivedPush/jsonLine``.
  case invalidLine
}
