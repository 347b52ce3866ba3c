/// Stops the program because a caller passed an argument that the API does not allow.
///
/// Apple's framework raises `NSInvalidArgumentException` for such an argument. Swift code cannot
/// catch that exception on Apple's systems either. Linux has no exceptions, so this function calls
/// `fatalError` with the same name and the message.
func stopForInvalidArgument(_ message: @autoclosure () -> String) -> Never {
  fatalError("NSInvalidArgumentException: \(message())")
}

/// Stops the program with ``stopForInvalidArgument(_:)`` unless `condition` is true.
///
/// - Parameter message: the broken rule and the refused value; evaluated only when `condition` is
///   false.
func requireArgument(_ condition: Bool, _ message: @autoclosure () -> String) {
  guard condition else { stopForInvalidArgument(message()) }
}
