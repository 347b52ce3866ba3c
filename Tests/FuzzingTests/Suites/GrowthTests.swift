import CloudKitModel
import Foundation
import JSONCoding
import Testing

/// Work on an input may grow with its size times the logarithm of that, and no faster, whatever the
/// input is. `PETREL_GROWTH_SIZE` sets the bytes of the inputs. `PETREL_GROWTH_SHARE` sets how many of the cases are
/// tried: 1 is all of them, 0.01 one of a hundred.
@Suite(.serialized)
struct GrowthTests {
  private static let size =
    ProcessInfo.processInfo.environment["PETREL_GROWTH_SIZE"].flatMap(Int.init) ?? 32_768
  private static let share =
    ProcessInfo.processInfo.environment["PETREL_GROWTH_SHARE"].flatMap(Double.init)
  /// The bytes of a value, so that a record holds it.
  private static let storedSize = min(size * 2, ServiceLimits.recordSize * 9 / 10)
  /// The bytes of a request's line and header fields, which have limits of their own.
  private static let headSize = 16_384

  /// Whether this run tries a case: the share that was asked for by chance; otherwise one of `count`, and of
  /// the notorious ones one of four.
  private static func tries(_ shape: HostileShape? = nil, oneIn count: Int) -> Bool {
    if let share { return Double.random(in: 0..<1) < share }
    return Int.random(in: 0..<(shape?.isNotorious == true ? min(count, 4) : count)) == 0
  }

  @Test("each reader of foreign bytes", arguments: FuzzTarget.all)
  func readers(target: FuzzTarget) async throws {
    guard case .value = target.attack else { return }
    var inputs: [(what: String, text: @Sendable (Int) -> String)] = []
    let count = target.words.count + 1
    for shape in HostileShape.all {
      if Self.tries(shape, oneIn: count) {
        inputs.append((shape.name, { shape.text(size: $0) }))
      }
      for word in target.words where Int.random(in: 0..<count) == 0 && Self.tries(oneIn: 1) {
        inputs.append(("'\(word)' and \(shape.name)", { word + shape.text(size: $0) }))
      }
    }
    for word in target.words where !word.isEmpty && Self.tries(oneIn: count) {
      inputs.append(
        (
          "'\(word)' again and again",
          { String(repeating: word, count: max(1, $0 / word.utf8.count)) }
        ))
    }
    for (what, text) in inputs {
      let fault = await ProcessorTime.fault(size: Self.size) { size in
        let text = text(size)
        _ = await target.violation(
          by: Array((target.readsSafeTexts ? text.streamSafe : text).utf8))
      }
      if let fault { Issue.record("\(target.name), \(what): \(fault)") }
    }
  }

  @Test("each operation, with each part of its body grown", arguments: GrowthCases.operations)
  func operations(operation: GrowthCases.Operation) async throws {
    var bodies: [(what: String, body: @Sendable (Int) -> String)] = []
    for place in GrownJSON.places(in: operation.body) {
      for shape in HostileShape.all where Self.tries(shape, oneIn: 50) {
        bodies.append(
          ("\(place.path) of \(shape.name)", { place.text(with: shape.json(size: $0)) }))
      }
      if place.text(repeatedTo: 1) != nil, Self.tries(oneIn: 6) {
        bodies.append(
          ("\(place.path) again and again", { place.text(repeatedTo: $0) ?? "" }))
      }
    }
    let service = try await AttackedService()
    for (what, body) in bodies {
      let fault = await ProcessorTime.fault(size: Self.size) { size in
        _ = await service.answer("POST", operation.name, body: body(size))
      }
      if let fault { Issue.record("\(operation.name), \(what): \(fault)") }
    }
    await service.stop()
  }

  @Test("each endpoint of the admin API, with each argument grown")
  func admin() async throws {
    let service = try await AttackedService()
    for endpoint in try await GrowthCases.adminEndpoints(of: service) {
      var cases: [(argument: String, shape: HostileShape)] = []
      for argument in endpoint.arguments.keys.sorted() {
        cases += HostileShape.all.filter { Self.tries($0, oneIn: 50) }.map { (argument, $0) }
      }
      for (argument, shape) in cases {
        let fault = await ProcessorTime.fault(
          size: endpoint.method == "GET" ? Self.headSize : Self.size
        ) { size in
          _ = await service.answer(endpoint.request(argument, shape: shape, size: size))
        }
        if let fault { Issue.record("\(endpoint.path), \(argument) of \(shape.name): \(fault)") }
      }
    }
    await service.stop()
  }

  @Test("the line and the header fields of a request")
  func heads() async throws {
    let service = try await AttackedService()
    for (what, request) in GrowthCases.heads {
      for shape in HostileShape.all where shape.isText && Self.tries(shape, oneIn: 8) {
        let fault = await ProcessorTime.fault(size: Self.headSize) { size in
          _ = await service.answer(request(shape.text(size: size)))
        }
        if let fault { Issue.record("\(what) of \(shape.name): \(fault)") }
      }
    }
    await service.stop()
  }

  @Test("a value that is stored, in every query and save that meets it")
  func stored() async throws {
    for shape in HostileShape.all where shape.isText && Self.tries(shape, oneIn: 8) {
      let fault = try await ProcessorTime.faultInTimes(size: Self.storedSize) { size in
        let service = try await AttackedService()
        let requests = GrowthCases.meetings(value: HostileShape.literal(shape.text(size: size)))
        let milliseconds = await ProcessorTime.milliseconds {
          for request in requests {
            _ = await service.answer("POST", request.operation, body: request.body)
          }
        }
        await service.stop()
        return milliseconds
      }
      if let fault { Issue.record("a value of \(shape.name): \(fault)") }
    }
  }

  @Test("what grows with the square is found, and what does not is not")
  func findings() async {
    // Calls of the system, for no compiler can leave them out.
    func work(_ steps: Int) { for _ in 0..<steps { getppid() } }
    let square = await ProcessorTime.fault(size: 8_192) { work($0 * $0 / 64) }
    #expect(square != nil)
    let linear = await ProcessorTime.fault(size: 8_192) { work($0 * 125) }
    #expect(linear == nil)
  }
}
