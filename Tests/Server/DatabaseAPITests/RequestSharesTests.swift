import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Configuration
@testable import DatabaseAPI

struct RequestSharesTests {
  private static let rates = [
    RequestRate(perSecond: 0.5, burst: 1), RequestRate(perSecond: 0.1, burst: 100),
    RequestRate(perSecond: 3, burst: 8), RequestRate(perSecond: 10, burst: 100),
    RequestRate(perSecond: 50, burst: 20), RequestRate(perSecond: 400, burst: 64),
    RequestRate(perSecond: 1000, burst: 1),
  ]

  @Test(
    "however requests are spread over servers, none is made that one bucket would have refused",
    arguments: rates, Seeds.some(12))
  func neverMore(rate: RequestRate, seed: Int) {
    var generator = SeededGenerator(seed: seed)
    // Draws take no time or some; what is made then may have been drawn so much earlier.
    let latency = seed % 3 == 0 ? 0 : Double.random(in: 0...0.05, using: &generator)
    let cluster = Cluster(
      rate: rate, servers: 1 + seed % 4, latency: latency, generator: generator)
    let lifetime = SharedRate(rate).lifetime
    var pace = rate.perSecond
    var server = 0
    for _ in 0..<3000 {
      // From quiet to ten times the rate, in turns, mostly on one server.
      if generator.chance(1, in: 60) {
        pace = [0.1, 0.5, 0.9, 1, 3, 10][generator.pick(0..<6)] * rate.perSecond
        server = generator.pick(0..<cluster.count)
      }
      // Quiet for as long as something may be in hand, then all at once.
      if generator.chance(1, in: 100) {
        cluster.advance(bySeconds: Double.random(in: 0...1.2, using: &generator) * lifetime)
        for _ in 0..<2 * rate.burst { cluster.request(on: generator.pick(0..<cluster.count)) }
        cluster.advance(bySeconds: Double(rate.burst) / rate.perSecond)
      }
      cluster.advance(bySeconds: Double.random(in: 0...2, using: &generator) / pace)
      let isElsewhere = generator.chance(1, in: 4)
      cluster.request(on: isElsewhere ? generator.pick(0..<cluster.count) : server)
    }
    cluster.advance(bySeconds: 1)
    #expect(cluster.admitted.count > 10)
    var model = Bucket(perSecond: rate.perSecond, capacity: Double(rate.burst), at: 0)
    // The interval of a shared bucket is rounded to nanoseconds.
    let slack = latency * rate.perSecond + 1e-3
    model.capacity += slack
    model.level += slack
    for (number, time) in cluster.admitted.sorted().enumerated() {
      let level = model.fill(at: time)
      guard level >= 1 else {
        Issue.record("request \(number) at \(time) is one too many: \(level) were left")
        return
      }
      model.level -= 1
    }
  }

  @Test("who is alone on one server and keeps the rate is never held back", arguments: rates)
  func lone(rate: RequestRate) {
    var generator = SeededGenerator(seed: 7)
    let cluster = Cluster(rate: rate, servers: 3, latency: 0, generator: generator)
    for _ in 0..<2000 {
      cluster.advance(bySeconds: Double.random(in: 1.01...1.2, using: &generator) / rate.perSecond)
      cluster.request(on: 0)
    }
    #expect(cluster.refused == 0)
    // A burst of what is in the bucket comes through at once.
    cluster.advance(bySeconds: Double(rate.burst) / rate.perSecond + 1)
    let before = cluster.admitted.count
    for _ in 0..<rate.burst { cluster.request(on: 0) }
    #expect(cluster.admitted.count - before >= rate.burst - rate.burst / SharedRate.share)
  }

  @Test("who asks for too much gets the rate, on one server and on four", arguments: [1, 4])
  func greedy(servers: Int) {
    // Of a bucket for one request much is lost by who does not come at the very moment it fills.
    for rate in Self.rates where rate.perSecond > 1 && rate.burst > 1 {
      let cluster = Cluster(
        rate: rate, servers: servers, latency: 0, generator: SeededGenerator(seed: 3))
      let seconds = max(20.0, 4 * Double(rate.burst) / rate.perSecond)
      for number in 0..<Int(seconds * rate.perSecond * 5) {
        cluster.advance(bySeconds: 0.2 / rate.perSecond)
        cluster.request(on: number % servers)
      }
      #expect(
        Double(cluster.admitted.count) > 0.9 * seconds * rate.perSecond,
        "\(rate): \(cluster.admitted.count) in \(seconds) seconds")
    }
  }

  @Test("most requests of a busy caller touch no table, and refused ones hardly any")
  func fewDraws() {
    var generator = SeededGenerator(seed: 5)
    let rate = RequestRate(perSecond: 100, burst: 1000)
    let cluster = Cluster(rate: rate, servers: 2, latency: 0, generator: generator)
    for _ in 0..<5000 {
      cluster.advance(bySeconds: Double.random(in: 0...0.04, using: &generator))
      cluster.request(on: generator.pick(0..<2))
    }
    #expect(cluster.refused == 0)
    #expect(cluster.draws < 500, "\(cluster.draws) draws")
    // A flood: no more than the refusals' pause lets through.
    let (draws, time) = (cluster.draws, cluster.time)
    for _ in 0..<50_000 {
      cluster.advance(bySeconds: 0.0002)
      cluster.request(on: generator.pick(0..<2))
    }
    let asked = Double(cluster.draws - draws)
    #expect(asked < (cluster.time - time) / RequestShares.pause * 2 * 8, "\(asked) draws")
  }

  @Test("who comes while others are about to be made draws for itself alone")
  func lateComer() throws {
    var shares = RequestShares(
      rates: [.user: RequestRate(perSecond: 0.001, burst: 50)], capacity: 9)
    let key = RequestThrottle.Key(subject: .user, name: "a")
    var claims = [Set<RequestThrottle.Key>](repeating: [], count: 5)
    for place in 0..<4 {
      #expect(shares.admit([key], claims: &claims[place], at: 0) == .draw([key]))
    }
    let drawn = shares.beginDraw(for: key, at: 0)
    let draw = try #require(drawn)
    #expect(draw.needed == 4)
    shares.endDraw(
      for: key, draw, Allowance(granted: 4, fullIn: 4), began: 0, at: 0)
    #expect(shares.admit([key], claims: &claims[4], at: 0) == .draw([key]))
    #expect(shares.beginDraw(for: key, at: 0)?.needed == 1)
    for place in 0..<4 {
      #expect(shares.admit([key], claims: &claims[place], at: 0) == .admitted)
    }
    // One that waits no more is not drawn for.
    shares.release(claims[4])
    #expect(shares.beginDraw(for: key, at: 0) == nil)
  }

  @Test("a request that one of its rates refuses counts for none; the wait is the bucket's")
  func together() {
    let rates: [RequestRate.Subject: RequestRate] = [
      .user: RequestRate(perSecond: 1, burst: 3), .apiToken: RequestRate(perSecond: 0.5, burst: 1),
    ]
    let cluster = Cluster(
      rates: rates, servers: 2, latency: 0, generator: SeededGenerator(seed: 1))
    let keys = [
      RequestThrottle.Key(subject: .user, name: "a"),
      RequestThrottle.Key(subject: .apiToken, name: "t"),
    ]
    #expect(cluster.request(keys, on: 0) == .admitted)
    guard case .refused(let refusal) = cluster.request(keys, on: 1) else {
      Issue.record("the token's bucket is empty")
      return
    }
    #expect(refusal.subject == .apiToken)
    #expect(abs(refusal.wait - 2) < 0.001)
    // Two are left, one of them in the hand of the second server.
    #expect(cluster.request([keys[0]], on: 0) == .admitted)
    cluster.advance(bySeconds: 2)
    #expect(cluster.request(keys, on: 1) == .admitted)
  }

  @Test("callers beyond what is remembered have one bucket together; full ones make room")
  func capacity() {
    let rates: [RequestRate.Subject: RequestRate] = [.address: RequestRate(perSecond: 1, burst: 2)]
    let cluster = Cluster(
      rates: rates, servers: 1, capacity: 3, latency: 0, generator: SeededGenerator(seed: 1))
    func ask(_ name: String) -> Bool {
      cluster.request([RequestThrottle.Key(subject: .address, name: name)], on: 0) == .admitted
    }
    for name in ["a", "b", "c"] { #expect(ask(name)) }
    #expect(ask("d"))
    #expect(ask("e"))
    #expect(!ask("f"))
    #expect(ask("a"))
    cluster.advance(bySeconds: 5)
    #expect(ask("f"))
    #expect(ask("g"))
    #expect(ask("g"))
    #expect(!ask("g"))
  }
}

/// The plainest bucket.
private struct Bucket {
  var perSecond: Double
  var capacity: Double
  var level: Double
  var filled: Double

  init(perSecond: Double, capacity: Double, at time: Double) {
    self.perSecond = perSecond
    self.capacity = capacity
    level = capacity
    filled = time
  }

  mutating func fill(at time: Double) -> Double {
    level = min(capacity, level + (time - filled) * perSecond)
    filled = time
    return level
  }
}

/// Servers with clocks that differ, and the store's bucket as a plain one; one after the other, in a time
/// that the test moves.
private final class Cluster {
  private struct Draw {
    var server: Int
    var key: RequestThrottle.Key
    var draw: AllowanceDraw
    var allowance: Allowance
    var began: Double
    var end: Double
  }

  private struct Waiting {
    var server: Int
    var keys: [RequestThrottle.Key]
    var claims: Set<RequestThrottle.Key>
  }

  private(set) var time = 0.0
  private(set) var admitted: [Double] = []
  private(set) var refused = 0
  private(set) var draws = 0
  let count: Int
  private let latency: Double
  private var generator: SeededGenerator
  private var servers: [RequestShares]
  private let offsets: [Double]
  private var buckets: [LimitSubject: Bucket] = [:]
  private var underWay: [Draw] = []
  private var waiting: [Waiting] = []

  init(
    rates: [RequestRate.Subject: RequestRate], servers: Int, capacity: Int = 100, latency: Double,
    generator: SeededGenerator
  ) {
    count = servers
    self.latency = latency
    self.generator = generator
    self.servers = (0..<servers).map { _ in RequestShares(rates: rates, capacity: capacity) }
    offsets = (0..<servers).map { Double($0 * $0) * 1000 - 500 }
  }

  convenience init(
    rate: RequestRate, servers: Int, latency: Double, generator: SeededGenerator
  ) {
    self.init(rates: [.user: rate], servers: servers, latency: latency, generator: generator)
  }

  private func clock(_ server: Int) -> Double { time + offsets[server] }

  func advance(bySeconds seconds: Double) {
    let end = time + seconds
    while let next = underWay.indices.min(by: { underWay[$0].end < underWay[$1].end }),
      underWay[next].end <= end
    {
      let draw = underWay.remove(at: next)
      time = max(time, draw.end)
      finish(draw)
    }
    time = end
  }

  func request(on server: Int) {
    request([RequestThrottle.Key(subject: .user, name: "anna")], on: server)
  }

  @discardableResult
  func request(_ keys: [RequestThrottle.Key], on server: Int) -> RequestShares.Verdict {
    decide(Waiting(server: server, keys: keys, claims: []))
  }

  @discardableResult
  private func decide(_ request: Waiting) -> RequestShares.Verdict {
    var request = request
    while true {
      let verdict = servers[request.server].admit(
        request.keys, claims: &request.claims, at: clock(request.server))
      switch verdict {
      case .admitted: admitted.append(time)
      case .refused: refused += 1
      case .draw(let keys):
        for key in keys { draw(key, on: request.server) }
        if latency == 0 { continue }
        waiting.append(request)
      }
      return verdict
    }
  }

  private func draw(_ key: RequestThrottle.Key, on server: Int) {
    guard !underWay.contains(where: { $0.server == server && $0.key == key }),
      let draw = servers[server].beginDraw(for: key, at: clock(server))
    else { return }
    draws += 1
    // The store decides somewhere between the question and the answer.
    let delay = latency == 0 ? 0 : Double.random(in: 0...latency, using: &generator)
    let perSecond = 1e9 / Double(draw.interval)
    var bucket =
      buckets[draw.subject]
      ?? Bucket(perSecond: perSecond, capacity: Double(draw.capacity), at: time)
    let granted = draw.granted(of: Int64(bucket.fill(at: time)))
    bucket.level -= Double(granted)
    buckets[draw.subject] = bucket
    let fullIn = (bucket.capacity - bucket.level) * Double(draw.interval)
    let drawn = Draw(
      server: server, key: key, draw: draw,
      allowance: Allowance(granted: granted, fullIn: Int64(fullIn.rounded(.up))),
      began: clock(server), end: time + delay)
    if latency == 0 { finish(drawn) } else { underWay.append(drawn) }
  }

  private func finish(_ draw: Draw) {
    servers[draw.server].endDraw(
      for: draw.key, draw.draw, draw.allowance, began: draw.began, at: clock(draw.server))
    let woken = waiting.filter { $0.server == draw.server }
    waiting.removeAll { $0.server == draw.server }
    for request in woken { decide(request) }
  }
}
