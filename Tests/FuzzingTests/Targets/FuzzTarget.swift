/// A reader of Petrel's that meets bytes of others, and what must hold whatever they are.
struct FuzzTarget: Sendable {
  enum Attack: Sendable {
    case value(@Sendable (_ input: [UInt8]) throws -> Void)
    /// An input that a server must answer.
    case service(@Sendable (_ input: [UInt8]) async throws -> Void)
  }

  /// Names the folder of its corpus too.
  let name: String
  /// Bytes of the longest input that is tried.
  let longest: Int
  /// The words of the target's language.
  let words: [String]
  /// Whether its texts are stream-safe: the server looks at them before, or they are the operator's own.
  let readsSafeTexts: Bool
  let attack: Attack

  /// A reader that comes back at once.
  ///
  /// - Parameter attack: throws ``Violation`` where what it promises does not hold. Other errors are
  ///   the reader's answer.
  init(
    _ name: String, longest: Int = 1024, words: [String] = [], readsSafeTexts: Bool = false,
    attack: @escaping @Sendable (_ input: [UInt8]) throws -> Void
  ) {
    (self.name, self.longest, self.words) = (name, longest, words)
    self.readsSafeTexts = readsSafeTexts
    self.attack = .value(attack)
  }

  init(
    _ name: String, longest: Int = 1024, words: [String] = [],
    answering attack: @escaping @Sendable (_ input: [UInt8]) async throws -> Void
  ) {
    (self.name, self.longest, self.words) = (name, longest, words)
    readsSafeTexts = false
    self.attack = .service(attack)
  }

  /// Gives an input to the reader; returns what does not hold, nil where all does.
  func violation(by input: [UInt8]) async -> Violation? {
    do {
      switch attack {
      case .value(let attack): try attack(input)
      case .service(let attack): try await attack(input)
      }
      return nil
    } catch {
      return error as? Violation
    }
  }

  static let all =
    texts + requests + sharing + tokens + storedBytes + signatures + pushes + addresses + clientData
}

/// Something that does not hold.
struct Violation: Error, CustomStringConvertible {
  let description: String
}

/// Throws ``Violation`` unless the condition holds.
func hold(_ condition: Bool, _ promise: @autoclosure () -> String) throws {
  guard condition else { throw Violation(description: promise()) }
}

/// The value of what may throw; nil where it does.
func read<Value>(_ body: () throws -> Value) -> Value? { try? body() }

/// Returns the result of `body`. If `body` throws, the function throws ``Violation`` with the
/// promise.
func must<Value>(_ promise: String, _ body: () throws -> Value) throws -> Value {
  do {
    return try body()
  } catch {
    throw Violation(description: "\(promise): \(error)")
  }
}

extension Sequence<UInt8> {
  /// As text, wrong bytes replaced.
  var text: String { String(decoding: Array(self), as: UTF8.self) }
}
