import AdminAPI
import CommandInterface
import Foundation
import JSONCoding

extension AdminArgument {
  var commandOption: Arguments.Option {
    switch kind {
    case .text, .integer, .zone, .value: option(placeholder, summary)
    case .word(let words): option(placeholder, summary, words)
    case .boolean: option(nil, summary)
    case .seconds: option(placeholder, summary + ", such as 12h or 30d")
    case .texts: option(placeholder, summary + "; separated by commas")
    case .secret: .init("\(option)-from-stdin", nil, "reads \(summary) from standard input")
    }
  }

  private func option(
    _ valueName: String?, _ help: String, _ words: [String] = []
  ) -> Arguments.Option {
    .init(option, valueName, help, words: words, isRequired: isRequired)
  }

  /// Returns the value of the option; `nil` if it is not given or empty. The user types a required
  /// secret, which has no option.
  ///
  /// - Throws: `UsageError` if the value is missing or breaks the argument's rule. The server checks
  ///   the range of a time.
  func value(_ arguments: Arguments) throws -> JSONValue? {
    let text = arguments.string(option).flatMap { $0.isEmpty ? nil : $0 }
    let value: JSONValue?
    switch kind {
    case .secret:
      let isWanted = isRequired || arguments.flag(commandOption.name)
      return isWanted ? .string(try PasswordPrompt.read()) : nil
    case .seconds:
      guard let time = try arguments.duration(option) else { return nil }
      guard let seconds = Int64(exactly: time.rounded(.up)) else {
        throw UsageError("--\(option) is too long")
      }
      return .int(seconds)
    case .boolean: value = text.map { _ in true }
    case .texts:
      value = text.map {
        .array($0.split(separator: ",").map { .string($0.trimmingCharacters(in: .whitespaces)) })
      }
    case .zone: value = text.map { ["zoneName": .string($0)] }
    case .text, .integer, .word, .value: value = text.map { .string($0) }
    }
    guard let fault = fault(in: value) else { return value }
    throw UsageError(value == nil ? "needs --\(option) \(placeholder)" : "--\(option) \(fault)")
  }
}

extension AdminArgument {
  /// Whether the user types the value instead of writing it into the command line.
  var isSecret: Bool { if case .secret = kind { true } else { false } }

  /// Returns a text that the user gave for a required argument.
  ///
  /// - Throws: `UsageError` if there is no text, or it breaks the argument's rule.
  func checked(_ text: String?) throws(UsageError) -> String {
    guard let text, !text.isEmpty else { throw UsageError("needs --\(option) \(placeholder)") }
    if let fault = fault(in: .string(text)) { throw UsageError("--\(option) \(fault)") }
    return text
  }
}

extension [AdminArgument] {
  var options: [Arguments.Option] { map(\.commandOption) }

  /// Returns the arguments of a request that the options of a command set. The user types secrets
  /// when the other options are right.
  ///
  /// - Throws: `UsageError` if an option is missing or wrong, or if `--user` does not fit the scope
  ///   of the database.
  func members(_ arguments: Arguments) throws -> [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    for argument in filter({ !$0.isSecret }) + filter(\.isSecret) {
      members[argument.name] = try argument.value(arguments)
    }
    guard contains(where: { $0.name == "database" }) else { return members }
    let scope = members["database"]?.string ?? "public"
    if scope == "public", members["user"] != nil {
      throw UsageError("--user needs --database private or shared")
    }
    if scope != "public", members["user"] == nil {
      throw UsageError("--database \(scope) needs --user, the user of the database")
    }
    return members
  }
}

extension AdminFailure {
  /// The names of the options by the names of the arguments that they set.
  private static let options = Dictionary(
    AdminEndpoint.all.flatMap(\.arguments).map { ($0.name, $0.commandOption.name) },
    uniquingKeysWith: { first, _ in first })

  /// Returns the failure with the option that the user typed in place of the argument of the admin
  /// API, which the server names: `--user` for `body: 'user'`.
  ///
  /// An argument without an option keeps its name, without the part of the request.
  func inWords(of arguments: Arguments) -> AdminFailure {
    guard let match = reason.wholeMatch(of: /(?s)(?:body|query): '(\w+)'(.*)/) else { return self }
    let name = String(match.1)
    let option = Self.options[name].flatMap { arguments.accepts($0) ? "--\($0)" : nil }
    var failure = self
    failure.reason = (option ?? "'\(name)'") + match.2
    return failure
  }
}
