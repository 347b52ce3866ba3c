import PropertyTesting
import Testing

@testable import OutboundHTTP

struct RequestScheduleTests {
  /// A schedule that can be changed where its answer is looked at.
  private final class Plan {
    private var schedule: RequestSchedule<String>

    init(
      exchanges: Int = 10, perOrigin: Int = 2, waiting: Int = 100, waitingPerOrigin: Int = 50
    ) {
      schedule = RequestSchedule(
        requestLimit: exchanges, originLimit: perOrigin, waitingLimit: waiting,
        originWaitingLimit: waitingPerOrigin)
    }

    var waiting: Int { schedule.waiting }
    var underWay: Int { schedule.underWay }
    func add(_ item: String, to origin: String) -> Bool { schedule.add(item, to: origin) }
    func next() -> String? { schedule.next() }
    func finish(_ origin: String) { schedule.finish(origin) }
    func removeWaiting() -> [String] { schedule.removeWaiting() }
  }

  @Test("origins take turns, each in the order of its requests")
  func turns() {
    let schedule = Plan(perOrigin: 5)
    for name in ["a1", "a2", "a3", "b1", "c1", "b2"] {
      #expect(schedule.add(name, to: String(name.prefix(1))))
    }
    var order: [String] = []
    while let next = schedule.next() { order.append(next) }
    #expect(order == ["a1", "b1", "c1", "a2", "b2", "a3"])
    #expect(schedule.underWay == 6)
  }

  @Test("an origin that does not answer holds up no other")
  func slowOrigin() {
    let schedule = Plan()
    for number in 0..<20 { #expect(schedule.add("slow\(number)", to: "slow")) }
    #expect(schedule.next() == "slow0")
    #expect(schedule.next() == "slow1")
    #expect(schedule.next() == nil)
    #expect(schedule.add("quick", to: "quick"))
    #expect(schedule.next() == "quick")
    schedule.finish("quick")
    #expect(schedule.next() == nil)
    schedule.finish("slow")
    #expect(schedule.next() == "slow2")
  }

  @Test("what finds no room is refused, for an origin and in all")
  func room() {
    let schedule = Plan(waiting: 5, waitingPerOrigin: 3)
    #expect((0..<5).map { schedule.add("\($0)", to: "a") } == [true, true, true, false, false])
    #expect((0..<5).map { schedule.add("\($0)", to: "b") } == [true, true, false, false, false])
    #expect(schedule.waiting == 5)
    #expect(schedule.next() != nil)
    #expect(schedule.add("again", to: "b"))
  }

  @Test("whatever comes, the limits hold, each origin keeps its order, and nothing is lost")
  func anySequence() {
    for seed in Seeds.some(200) {
      var random = SeededGenerator(seed: seed)
      let schedule = Plan(exchanges: 6, perOrigin: 3, waiting: 30, waitingPerOrigin: 12)
      var waiting: [String: [Int]] = [:]
      var underWay: [String: Int] = [:]
      for number in 0..<600 {
        let name = String(Int.random(in: 0..<5, using: &random))
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
          let total = waiting.values.reduce(0) { $0 + $1.count }
          let hasRoom = total < 30 && waiting[name, default: []].count < 12
          #expect(schedule.add("\(name) \(number)", to: name) == hasRoom)
          if hasRoom { waiting[name, default: []].append(number) }
        case 1:
          let mayBegin =
            underWay.values.reduce(0, +) < 6
            && waiting.contains { !$0.value.isEmpty && underWay[$0.key, default: 0] < 3 }
          guard let next = schedule.next() else {
            #expect(!mayBegin, "seed \(seed)")
            continue
          }
          #expect(mayBegin, "seed \(seed)")
          let parts = next.split(separator: " ")
          let origin = String(parts[0])
          #expect(waiting[origin]?.removeFirst() == Int(parts[1]), "seed \(seed)")
          underWay[origin, default: 0] += 1
          #expect(underWay[origin, default: 0] <= 3, "seed \(seed)")
        default:
          guard underWay[name, default: 0] > 0 else { continue }
          underWay[name, default: 0] -= 1
          schedule.finish(name)
        }
        #expect(schedule.underWay == underWay.values.reduce(0, +))
        #expect(schedule.waiting == waiting.values.reduce(0) { $0 + $1.count })
      }
      #expect(schedule.removeWaiting().count == waiting.values.reduce(0) { $0 + $1.count })
      #expect(schedule.next() == nil)
    }
  }
}
