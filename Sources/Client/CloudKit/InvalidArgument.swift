/// Stops the program because it called with arguments that Apple's framework answers with
/// `NSInvalidArgumentException`, which Swift code cannot catch there either.
func stopForInvalidArgument(_ message: @autoclosure () -> String) -> Never {
  fatalError("NSInvalidArgumentException: \(message())")
}

/// Stops the program with ``stopForInvalidArgument(_:)`` unless `condition` holds.
func requireArgument(_ condition: Bool, _ message: @autoclosure () -> String) {
  guard condition else { stopForInvalidArgument(message()) }
}
