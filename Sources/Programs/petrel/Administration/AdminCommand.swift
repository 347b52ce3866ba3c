import AdminAPI
import CommandInterface
import JSONCoding

/// A command that is made from the declaration of an endpoint of the admin API.
///
/// The operands and options of the command are the arguments of the endpoint, with their summaries,
/// rules and placeholders. With `--json`, the command prints the answer; otherwise it prints the
/// answer as lines or as a table.
///
/// ```swift
/// AdminCommand(
///   "keys revoke", "Revokes a key.", example: "petrel keys revoke 0123456789abcdef",
///   .post("keys/revoke"), operands: ["identifier"], prints: .member("revoked"))
/// ```
struct AdminCommand: Command {
  /// Makes a request with these arguments and returns the answer.
  typealias Call =
    @Sendable (_ access: any AdminAccess, _ members: [String: JSONValue]) async throws -> JSONValue

  let name: String
  let summary: String
  let example: String
  let operands: String
  let options: [Arguments.Option]
  let exitStatuses: [(Int32, String)]

  private let operandArguments: [AdminArgument]
  private let takesList: Bool
  private let optionArguments: [AdminArgument]
  private let work: AdminOptions.Work
  private let makesStore: Bool
  private let check: @Sendable ([String: JSONValue]) throws -> Void
  private let call: Call
  private let output: AdminOutput

  /// - Parameters:
  ///   - operands: The names of the arguments that are operands. A name with `…` at its end takes
  ///     all operands as a list.
  ///   - leavingOut: The names of the arguments that have no option.
  ///   - exitStatuses: The exit statuses for the help, if they mean more than success and failure.
  ///   - work: Whether a server may have the store open.
  ///   - makesStore: Whether a missing store is created.
  ///   - call: Makes the request; `nil` for a single request of the endpoint.
  init(
    _ name: String, _ summary: String, example: String, _ endpoint: AdminEndpoint,
    operands: [String] = [], leavingOut hidden: Set<String> = [], adding: [AdminArgument] = [],
    exitStatuses: [(Int32, String)] = [], _ work: AdminOptions.Work = .besideServer,
    makesStore: Bool = false,
    check: @escaping @Sendable ([String: JSONValue]) throws -> Void = { _ in },
    call: Call? = nil, prints output: AdminOutput = .nothing
  ) {
    self.name = name
    self.summary = summary
    self.example = example
    self.exitStatuses = exitStatuses
    self.work = work
    self.makesStore = makesStore
    self.check = check
    self.output = output
    self.call = call ?? { try await $0.answer(endpoint, $1) }
    takesList = operands.contains { $0.hasSuffix("…") }
    let names = operands.map { $0.replacing("…", with: "") }
    operandArguments = names.compactMap { name in endpoint.arguments.first { $0.name == name } }
    self.operands =
      operandArguments.map(\.placeholder).joined(separator: " ")
      + (takesList ? "…" : "")
    let isPaged = if case .pages = output { true } else { false }
    let paging: Set = ["limit", "continuation"]
    optionArguments =
      endpoint.arguments.filter { argument in
        !names.contains(argument.name) && !hidden.contains(argument.name)
          && !(isPaged && paging.contains(argument.name))
      } + adding
    options =
      optionArguments.filter { !($0.isSecret && $0.isRequired) }.options
      + (isPaged ? [Listing.limitOption] : []) + [AdminOptions.json]
      + AdminOptions.all
  }

  func run(_ arguments: Arguments) async throws -> Int32 {
    let words = try operandMembers(arguments.positional)
    let members = try optionArguments.members(arguments).merging(words) { $1 }
    try check(members)
    let command = self
    return try await AdminOptions.withAccess(arguments, work, makesStore: makesStore) { access in
      try await command.output.show(arguments) { page in
        try await command.call(access, members.merging(page) { $1 })
      }
    }
  }

  /// Returns the arguments that the operands set.
  ///
  /// - Throws: `UsageError` if there are too few or too many operands, or one is empty.
  private func operandMembers(_ words: [String]) throws(UsageError) -> [String: JSONValue] {
    guard let first = operandArguments.first else {
      guard words.isEmpty else { throw UsageError("takes only options") }
      return [:]
    }
    if takesList {
      guard !words.isEmpty else { throw UsageError("needs at least one \(first.placeholder)") }
      return [first.name: .array(words.map { .string($0) })]
    }
    guard words.count == operandArguments.count, !words.contains("") else {
      let needed =
        operandArguments.count == 1
        ? "one \(first.placeholder): \(first.summary)"
        : operandArguments.map { "a \($0.placeholder)" }.joined(separator: " and ")
      throw UsageError("needs \(needed)")
    }
    return Dictionary(
      uniqueKeysWithValues: zip(operandArguments, words).map { ($0.name, .string($1)) })
  }

  /// Checks that a command on the public database names the user who has the subscription.
  static func needsSubscriber(_ members: [String: JSONValue]) throws {
    if members["user"] == nil, members["subscriber"] == nil {
      throw UsageError("needs --subscriber, the user who has the subscription")
    }
  }
}
