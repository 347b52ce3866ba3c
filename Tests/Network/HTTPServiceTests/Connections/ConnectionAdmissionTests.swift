import PropertyTesting
import Testing

@testable import HTTPService

struct ConnectionAdmissionTests {
  private func peer(_ bytes: UInt8...) -> PeerAddress { PeerAddress(bytes) }

  @Test("a host is an IPv4 address or an IPv6 /64, a network an IPv4 /24 or an IPv6 /48")
  func peers() {
    let here = peer(192, 0, 2, 1)
    #expect(here.host != peer(192, 0, 2, 2).host && here.network == peer(192, 0, 2, 2).network)
    #expect(here.network != peer(192, 0, 3, 1).network)
    #expect(PeerAddress([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 1]) == here)
    let six: [UInt8] = [0x20, 1, 0xD, 0xB8, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3]
    func changed(_ index: Int) -> PeerAddress {
      var bytes = six
      bytes[index] ^= 1
      return PeerAddress(bytes)
    }
    #expect(changed(15) == PeerAddress(six) && changed(8) == PeerAddress(six))
    #expect(changed(7).host != PeerAddress(six).host)
    #expect(changed(7).network == PeerAddress(six).network)
    #expect(changed(5).network != PeerAddress(six).network)
    // The bits of an IPv4 address are not those of an IPv6 one.
    #expect(
      peer(0, 0, 0, 1).host
        != PeerAddress([UInt8](repeating: 0, count: 7) + [1] + [UInt8](repeating: 0, count: 8)).host
    )
  }

  @Test("whatever comes and goes, counts are those of a plain list, and no limit is passed")
  func model() {
    for seed in Seeds.some(200) {
      var random = SeededGenerator(seed: seed)
      let all = Int.random(in: 2...20, using: &random)
      let limits = ConnectionAdmission.Limits(
        all: all, reserved: Int.random(in: 0...all / 2, using: &random),
        byHost: Int.random(in: 1...6, using: &random),
        byNetwork: Int.random(in: 1...10, using: &random))
      var admission = ConnectionAdmission(limits)
      var open: [ConnectionAdmission.Ticket] = []
      for _ in 0..<300 {
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
          let peer = PeerAddress([
            10, 0, UInt8.random(in: 0...2, using: &random), UInt8.random(in: 0...2, using: &random),
          ])
          let isCapped = Bool.random(using: &random)
          let here = open.filter { !$0.isLeaving }
          let capped = here.filter(\.isCapped)
          let cleared: [Set<ConnectionAdmission.Places>] = [
            [], [.ordinary], [.reserved], [.ordinary, .reserved],
          ]
          let verdict = admission.enter(
            peer, isCapped: isCapped, cleared: cleared.randomElement(using: &random) ?? [])
          let ofHost = capped.count { $0.peer.host == peer.host }
          let ofNetwork = capped.count { $0.peer.network == peer.network }
          let isFull = here.count { !$0.isReserved } >= limits.ordinary
          switch verdict {
          case .admitted(let ticket):
            #expect(!isCapped || ofHost < limits.byHost && ofNetwork < limits.byNetwork)
            #expect(ticket.isReserved == isFull && here.count < limits.all)
            open.append(ticket)
          case .makeRoom(let places):
            #expect(isFull)
            #expect(places == .ordinary || here.count { $0.isReserved } >= limits.reserved)
          case .refused(.tooManyConnectionsOfAddress): #expect(isCapped && ofHost >= limits.byHost)
          case .refused(.tooManyConnectionsOfNetwork):
            #expect(isCapped && ofNetwork >= limits.byNetwork)
          case .refused(let reason): #expect(reason == .tooManyConnections && isFull)
          }
        case 2:
          guard let index = open.indices.randomElement(using: &random) else { continue }
          admission.leave(open.remove(at: index))
        case 3:
          guard let index = open.indices.randomElement(using: &random) else { continue }
          admission.evict(&open[index])
        default:
          guard let index = open.indices.randomElement(using: &random), !open[index].isLeaving
          else { continue }
          let wasReserved = open[index].isReserved
          let isFull = open.count { !$0.isLeaving && !$0.isReserved } >= limits.ordinary
          #expect(admission.promote(&open[index]) == (!wasReserved || !isFull))
        }
        #expect(admission.placesTaken == open.count { !$0.isLeaving })
        #expect(admission.leaving == open.count(where: \.isLeaving))
        #expect(admission.placesTaken <= limits.all)
      }
      for ticket in open { admission.leave(ticket) }
      #expect(admission.placesTaken == 0 && admission.remembered == 0 && admission.leaving == 0)
    }
  }
}
