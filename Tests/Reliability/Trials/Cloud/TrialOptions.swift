/// The words of a trial's command, read one by one.
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

  /// The value as a number from 1 on.
  mutating func number(of option: String) throws -> Int {
    let text = try value(of: option)
    guard let number = Int(text), number > 0 else {
      throw TrialError("\(option) needs a number from 1 on, not '\(text)'")
    }
    return number
  }
}
