import Testing

/// Waits for a condition that nothing reports, by looking again and again until a deadline.
func eventually(
  seconds: Double = 20, sourceLocation: SourceLocation = #_sourceLocation,
  _ condition: () -> Bool
) async throws {
  let deadline = ContinuousClock.now + .seconds(seconds)
  while !condition() {
    try #require(
      ContinuousClock.now < deadline, "the condition did not come true in time",
      sourceLocation: sourceLocation)
    try await Task.sleep(for: .milliseconds(1))
  }
}
