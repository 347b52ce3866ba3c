import Foundation

/// The words of a reliability test's command, read one by one.
struct TrialOptions {
  private var rest: ArraySlice<String>

  init(_ words: ArraySlice<String>) { rest = words }

  /// The next option; nil at the end.
  mutating func next() -> String? { rest.popFirst() }

  /// The value of an option that was just read.
  mutating func value(of option: String) throws -> String {
    guard let value = rest.popFirst() else { throw TrialError("\(option) needs a value") }
    return value
  }

  /// The value as a file that can be written: nobody wants to learn after an hour that it cannot.
  mutating func file(of option: String) throws -> String {
    let path = try value(of: option)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw TrialError(
        "\(option): '\(path)' cannot be written: \(String(cString: strerror(errno)))")
    }
    close(descriptor)
    return path
  }

  /// The value as a number from 1 on.
  mutating func number(of option: String) throws -> Int {
    let text = try value(of: option)
    guard let number = Int(text), number > 0 else {
      throw TrialError("\(option) needs a number from 1 on, not '\(text)'")
    }
    return number
  }
}
