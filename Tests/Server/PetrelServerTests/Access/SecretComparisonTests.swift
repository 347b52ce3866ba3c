import Foundation
import RepositoryFiles
import Testing

/// Reads the sources for secrets that are compared otherwise than in constant time.
struct SecretComparisonTests {
  /// Comparisons of values that are named like secrets but are none, or whose duration reveals
  /// nothing, each with the reason.
  private static let harmless: [String: String] = [
    "ProviderTokenIssuer.swift: guard let current, current.text == token else { return true }":
      "both are the server's own",
    "Registration+Revocation.swift: let tokens = all.apiTokens.filter { $0.hash == hash || fits($0.identifier) }":
      "hashes, asked by who runs the server",
    "Registration+Revocation.swift: $0.hash == hash || fits($0.identifier)":
      "hashes, asked by who runs the server",
    "AdminKeysEndpoints.swift: ListedKey.admin($0, isCurrent: $0.hash == request.identity.key?.hash)":
      "hashes, asked by who runs the server",
    "DispatchLeaseTable+Changes.swift: if let server, first.holder == server.rawValue { return [first.part] }":
      "the name of a server",
    "EventLoop.swift: if token == 0 {":
      "the number of a source of events",
    "StoreComparison.swift: return mine[row].digest != other[row].digest":
      "what two stores have, asked by who runs them",
  ]

  /// The layers whose code sees secrets of others.
  private static let layers = ["Server", "Delivery", "Store", "Protocol", "Network", "Base"]

  /// `a.token == b`, `b != hash`, and the like; not `token == nil`, and not `token.count == 3`.
  private static func comparisons(in line: Substring) -> Bool {
    let name =
      #/(?i)\b[\w.?\[\]]*(token|hash|secret|signature|proof|cookie|password|mac|digest|nonce|holder|apiKey|adminKey|tokenHash|passwordHash|seal)\b/#
    guard let place = line.firstRange(of: " == ") ?? line.firstRange(of: " != ")
    else { return false }
    let code = line.prefix { $0 != "\"" }.trimmingPrefix(while: \.isWhitespace)
    guard !code.hasPrefix("//"), place.lowerBound < code.endIndex else { return false }
    let left = line[..<place.lowerBound].split(whereSeparator: { " (!{,".contains($0) }).last ?? ""
    let right =
      line[place.upperBound...].split(whereSeparator: { " ),{".contains($0) }).first ?? ""
    if [left, right].contains(where: { $0 == "nil" || $0.hasPrefix(".") }) { return false }
    return [left, right].contains { $0.wholeMatch(of: name) != nil }
  }

  @Test("no token, hash or code is compared with == but where that tells nothing")
  func sources() throws {
    // To look at each of many thousand lines takes an unoptimised program long.
    let search = Process()
    search.executableURL = URL(fileURLWithPath: "/usr/bin/grep")
    search.arguments = ["-rE", "--include=*.swift", " (==|!=) "] + Self.layers
    search.currentDirectoryURL = RepositoryFile.url("Sources")
    let output = Pipe()
    search.standardOutput = output
    try search.run()
    let lines = try output.fileHandleForReading.readToEnd() ?? Data()
    search.waitUntilExit()
    try #require(search.terminationStatus == 0, "a layer is not there")
    var found: Set<String> = []
    for hit in String(decoding: lines, as: UTF8.self).split(separator: "\n") {
      let parts = hit.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, Self.comparisons(in: parts[1]) else { continue }
      let file = parts[0].split(separator: "/").last ?? parts[0]
      found.insert("\(file): " + parts[1].trimmingCharacters(in: .whitespaces))
    }
    #expect(found.subtracting(Self.harmless.keys) == [], "compare with ConstantTime.areEqual")
    #expect(Set(Self.harmless.keys).subtracting(found) == [], "is not there any more")
  }

  @Test("the reading finds comparisons of secrets, and passes over others")
  func reading() {
    for line in [
      "if token == given {", "guard hash(of: text) != entry.hash else {", "a.apiKey == b",
      "x?.signature == other.signature", "return code && left.tokenHash == tokenHash",
      "$0.passwordHash == hash",
    ] { #expect(Self.comparisons(in: line[...]), "\(line)") }
    for line in [
      "token == nil", "if tokens.count == 3 {", "// token == other", "kind == .token",
      "\"the token == other\"", "entry.environment == path.environment",
    ] { #expect(!Self.comparisons(in: line[...]), "\(line)") }
  }
}
