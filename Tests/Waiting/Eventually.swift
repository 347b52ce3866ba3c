/// Something that a test waited for did not come about.
public struct Impatience: Error, CustomStringConvertible {
  public var description: String
}

/// Comes back once a condition holds that nothing reports, by looking again and again.
///
/// - Parameter what: what the condition says, such as `the window closes`.
/// - Throws: ``Impatience`` when it does not come about in time.
public func eventually(
  _ what: String, within patience: Duration = .seconds(40), file: String = #fileID,
  line: Int = #line, _ condition: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + patience
  while try await !condition() {
    guard ContinuousClock.now < deadline else {
      throw Impatience(description: "\(file):\(line): not within \(patience): \(what)")
    }
    try await Task.sleep(for: .milliseconds(2))
  }
}
