import PropertyTesting
import Testing

@testable import HTTPService

struct ByteAdmissionTests {
  private static let limits = ByteAdmission.Limits(all: 1000, large: 500, smallBody: 10)

  private func holding(_ host: UInt8, network: UInt8 = 0, account: String? = nil)
    -> ByteAdmission.Holding
  {
    ByteAdmission.Holding(peer: PeerAddress([10, 0, network, host]), account: account)
  }

  /// Takes as much as it gets for requests of one body each, a byte at a time.
  private func fill(
    _ admission: inout ByteAdmission, _ bodies: inout [ByteAdmission.Holding], size: Int
  ) {
    var isGoingOn = true
    while isGoingOn {
      isGoingOn = false
      for index in bodies.indices where bodies[index].count < size {
        if admission.take(1, for: &bodies[index]) == nil { isGoingOn = true }
      }
    }
  }

  @Test("one host gets a third of the room for large bodies, its network half")
  func oneAttacker() {
    var admission = ByteAdmission(Self.limits)
    var ofHost = (0..<100).map { _ in holding(1) }
    fill(&admission, &ofHost, size: 100)
    // The first bytes of a body are those of a small one, with more room.
    #expect(admission.taken <= 333 + 10)
    var others = (UInt8(2)..<100).map { holding($0) }
    fill(&admission, &others, size: 100)
    #expect(admission.taken <= 700)
    var legitimate = holding(1, network: 1)
    #expect(admission.take(100, for: &legitimate) == nil)
  }

  @Test("beside full room for large bodies, small requests find theirs")
  func reserve() {
    var admission = ByteAdmission(Self.limits)
    var large: [ByteAdmission.Holding] = (UInt8(0)..<50).map { network in
      var body = holding(1, network: network)
      _ = admission.take(11, for: &body)
      return body
    }
    fill(&admission, &large, size: 500)
    #expect(admission.taken > 490)
    for host in 1...100 as ClosedRange<UInt8> {
      var small = holding(host, network: 200)
      #expect(admission.refusal(of: 0, for: small) == nil)
      #expect(admission.take(2, for: &small) == nil)
    }
  }

  @Test("however many networks take all that they get, the next one finds room")
  func manyNetworks() {
    for count in 1...20 as ClosedRange<UInt8> {
      var admission = ByteAdmission(
        .init(all: 100_000, large: 50_000, smallBody: 100))
      var bodies = (UInt8(0)..<count).flatMap { network in
        (UInt8(1)...3).map { holding($0, network: network) }
      }
      fill(&admission, &bodies, size: 50_000)
      var next = holding(1, network: 100)
      let share = 50_000 / (Int(count) + 1)
      #expect(admission.take(share / 3, for: &next) == nil, "\(count) networks")
    }
  }

  @Test("an account has a share of its own, wherever its requests come from")
  func accounts() {
    var admission = ByteAdmission(.init(all: 1000, large: 1000, smallBody: 0))
    var bodies = (UInt8(0)..<50).map { holding(1, network: $0, account: "a") }
    fill(&admission, &bodies, size: 1000)
    #expect((199...200).contains(admission.taken))
    var same = holding(1, network: 100, account: "a")
    #expect(admission.take(1, for: &same) == .tooManyBytesOfAccount)
    var other = holding(1, network: 100, account: "b")
    #expect(admission.take(100, for: &other) == nil)
  }

  @Test("requests that the server cannot distinguish have the whole limit, and no more")
  func proxies() {
    var admission = ByteAdmission(Self.limits)
    var body = ByteAdmission.Holding()
    #expect(admission.take(500, for: &body) == nil)
    #expect(admission.take(1, for: &body) == .tooManyBytes)
    var small = ByteAdmission.Holding()
    #expect(admission.take(10, for: &small) == nil)
  }

  @Test("answers count beyond the limits, and who has not read them begins nothing new")
  func answers() {
    var admission = ByteAdmission(Self.limits)
    var slow = holding(1)
    admission.add(400, to: &slow)
    #expect(admission.refusal(of: 0, for: holding(1)) == .tooManyBytesOfAddress)
    #expect(admission.refusal(of: 0, for: holding(2, network: 1)) == nil)
    admission.add(2000, to: &slow)
    #expect(admission.refusal(of: 0, for: holding(2, network: 1)) == .tooManyBytes)
    admission.giveBack(&slow)
    #expect(admission.refusal(of: 0, for: holding(1)) == nil)
  }

  @Test("whatever is taken and given back, the counts are those of a plain list")
  func model() {
    for seed in Seeds.some(200) {
      var random = SeededGenerator(seed: seed)
      let all = Int.random(in: 1...400, using: &random)
      let limits = ByteAdmission.Limits(
        all: all, large: Int.random(in: 0...all, using: &random),
        smallBody: Int.random(in: 0...20, using: &random))
      var admission = ByteAdmission(limits)
      var open: [ByteAdmission.Holding] = []
      for _ in 0..<200 {
        let count = Int.random(in: 1...30, using: &random)
        switch (Int.random(in: 0..<4, using: &random), open.indices.randomElement(using: &random)) {
        case (0, _):
          open.append(
            Bool.random(using: &random)
              ? .init()
              : holding(
                UInt8.random(in: 1...2, using: &random),
                network: UInt8.random(in: 0...1, using: &random),
                account: Bool.random(using: &random) ? "a" : nil))
        case (1, let index?):
          var body = open.remove(at: index)
          admission.giveBack(&body)
          #expect(body.count == 0)
        case (2, let index?): admission.add(count, to: &open[index])
        case (_, let index?):
          let before = open[index]
          let isLarge = before.isLarge || before.count + count > limits.smallBody
          let large = open.reduce(0) { $0 + ($1.isLarge ? $1.count : 0) }
          var room = limits.all - open.reduce(0) { $0 + $1.count }
          if isLarge {
            room = min(room, limits.large - large - (before.isLarge ? 0 : before.count))
          }
          let ofHost = open.reduce(0) { $0 + ($1.peer?.host == before.peer?.host ? $1.count : 0) }
          let ofNetwork = open.reduce(0) {
            $0 + ($1.peer?.network == before.peer?.network ? $1.count : 0)
          }
          let ofAccount = open.reduce(0) { $0 + ($1.account == before.account ? $1.count : 0) }
          let fits =
            count <= room
            && (before.peer == nil || ofHost + count <= room / 2 && ofNetwork + count <= room)
            && (before.account == nil || ofAccount + count <= room / 4)
          #expect((admission.take(count, for: &open[index]) == nil) == fits)
          #expect(open[index].count == before.count + (fits ? count : 0))
        default: break
        }
        #expect(admission.taken == open.reduce(0) { $0 + $1.count })
      }
      for index in open.indices { admission.giveBack(&open[index]) }
      #expect(admission.taken == 0 && admission.remembered == 0)
    }
  }
}
