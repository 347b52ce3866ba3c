import Foundation
import Testing

/// The short form of `make fuzz`: what is kept in the corpora, and inputs made of it by a seed.
struct CorpusTests {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Corpora")

  /// The kept inputs of a target, by their names.
  private static func corpus(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
    let folder = folder.appendingPathComponent(target.name)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
      ($0, Array(try Data(contentsOf: folder.appendingPathComponent($0))))
    }
  }

  @Test("What is kept, and what is made of it, breaks no promise", arguments: FuzzTarget.all)
  func promises(target: FuzzTarget) async throws {
    let corpus = try Self.corpus(of: target)
    try #require(!corpus.isEmpty, "\(target.name) has inputs to begin with")
    for (name, bytes) in corpus {
      let violation = await target.violation(by: bytes)
      #expect(violation == nil, "\(target.name)/\(name): \(violation?.description ?? "")")
    }
    var mutator = Mutator(of: corpus.map(\.bytes), for: target, seed: 1)
    for number in 0..<target.inputsInTests {
      let input = mutator.next()
      let violation = await target.violation(by: input)
      #expect(
        violation == nil,
        "\(target.name), input \(number) (\(Data(input).base64EncodedString())): \(violation?.description ?? "")"
      )
      if violation != nil { return }
    }
  }

  @Test("Each folder of the corpora is one of a target, and no target's name is another's")
  func folders() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    #expect(Set(folders).count == FuzzTarget.all.count)
  }

  @Test("The documentation's table has all targets")
  func documentation() throws {
    let text = try String(
      contentsOf: Self.folder.appendingPathComponent("../../../docs/internals/fuzzing.md"),
      encoding: .utf8)
    for target in FuzzTarget.all {
      #expect(text.contains("| `\(target.name)` |"), "\(target.name) has a line")
    }
  }

  @Test("What does not hold is found and told")
  func finding() async {
    let target = FuzzTarget("broken") { input in
      try hold(!input.starts(with: [0x50]), "nothing begins with P")
      throw CocoaError(.fileNoSuchFile)
    }
    #expect(await target.violation(by: [0x51]) == nil)
    #expect(await target.violation(by: [0x50])?.description == "nothing begins with P")
  }

  @Test("The same seed makes the same inputs, and another one others")
  func mutations() throws {
    let target = try #require(FuzzTarget.all.first)
    func inputs(_ seed: Int) -> [[UInt8]] {
      var mutator = Mutator(of: [[1, 2, 3], [4, 5]], for: target, seed: seed)
      return (0..<200).map { _ in mutator.next() }
    }
    #expect(inputs(1) == inputs(1))
    #expect(inputs(1) != inputs(2))
    #expect(Set(inputs(1)).count > 150)
    #expect(inputs(1).allSatisfy { $0.count <= target.longest })
  }
}

extension FuzzTarget: CustomTestStringConvertible {
  var testDescription: String { name }

  /// As many as a build without optimisation does in a second, or about.
  fileprivate var inputsInTests: Int {
    switch attack {
    case .value: 400
    case .service: 100
    }
  }
}
