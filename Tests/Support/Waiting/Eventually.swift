import Foundation

/// Something that a test waited for did not come about.
public struct Impatience: Error, CustomStringConvertible {
  public var description: String

  public init(description: String) { self.description = description }
}

/// How long tests wait for what must come.
public enum Patience {
  /// How many times as long as otherwise, by `PETREL_TEST_PATIENCE`: under sanitizers programs are slow.
  public static let factor =
    ProcessInfo.processInfo.environment["PETREL_TEST_PATIENCE"].flatMap(Int.init) ?? 1
  /// The longest wait of tests that set no limit of their own.
  public static let usual = Duration.seconds(40) * factor
}

/// Comes back once a condition holds that nothing reports, by looking again and again: often at first, and after a
/// while no more than 20 times a second, since looking may cost what the others on the machine need.
///
/// - Parameters:
///   - what: what the condition says, such as `the window closes`.
///   - patience: how long to wait at most, on a machine that is not slowed down.
/// - Throws: ``Impatience`` when it does not come about in time.
public func eventually(
  _ what: String, within patience: Duration = .seconds(40), file: String = #fileID,
  line: Int = #line, _ condition: () async throws -> Bool
) async throws {
  let start = ContinuousClock.now
  let deadline = start + patience * Patience.factor
  while try await !condition() {
    guard ContinuousClock.now < deadline else {
      throw Impatience(
        description: "\(file):\(line): not within \(patience * Patience.factor): \(what)")
    }
    let pause = min(max((ContinuousClock.now - start) / 16, .milliseconds(2)), .milliseconds(50))
    try await Task.sleep(for: pause)
  }
}
