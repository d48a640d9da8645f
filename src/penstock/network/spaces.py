"""Network namespaces, and what stands in them. They have no names: with the last process in them they are gone, whatever ended it, and with
them their interfaces. Without root a user namespace is made around them, where the kernel allows that.

Functions raise OSError; `Refused` where the kernel or the user's rights do not allow a namespace.
"""

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
TUNSETIFF, IFF_TUN, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0001, 0x0002, 0x1000
ETH_P_ALL, SOL_PACKET, PACKET_STATISTICS, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 0x0003, 263, 6, 8, 23
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
BUFFER_BYTES = 16 << 20
SIOCETHTOOL = 0x8946
TUN = "/dev/net/tun"
# Settings that keep users from user namespaces, the value with which they do, and one with which they do not; of the kernel, of Debian, of
# Ubuntu.
USER_NAMESPACES = (
    ("user/max_user_namespaces", "0", "10000"),
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
)
ETHTOOL_OFF = (0x15, 0x17, 0x19, 0x1F, 0x22, 0x24, 0x2C)  # set: checksums (rx, tx), scatter-gather, TSO, UFO, GSO, GRO

_LIBC = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """A sentence: what is missing in rights."""


def call(name: str, *arguments: object) -> None:
    """Call a function of the C library. Raises OSError."""
    if getattr(_LIBC, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


def enter_own() -> None:
    """Put this process, which has one thread, into namespaces of its own for networks and mounts. Raises Refused."""
    try:
        call("unshare", CLONE_NEWNS | CLONE_NEWNET)
    except OSError as error:
        user, group = os.geteuid(), os.getegid()
        if user == 0:
            raise Refused(f"the kernel gives no network namespace ({error.strerror}); this needs CAP_SYS_ADMIN and CAP_NET_ADMIN") from None
        try:
            call("unshare", CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET)
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"0 {user} 1")
            Path("/proc/self/gid_map").write_text(f"0 {group} 1")
        except OSError as inner:
            raise Refused(
                f"network namespaces need root (`sudo`), or user namespaces, which this user may not make ({inner.strerror}){_allowing()}"
            ) from None
    with contextlib.suppress(OSError):
        call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)


def _allowing() -> str:
    """Return what would let users make user namespaces, by the settings of this machine that forbid it."""
    for name, forbids, allows in USER_NAMESPACES:
        with contextlib.suppress(OSError):
            if Path("/proc/sys", name).read_text().strip() == forbids:
                return f": `sysctl {name.replace('/', '.')}={allows}` as root lets it"
    return ""


def problem() -> str | None:
    """Return why there can be no namespaces, and what to do, or None; tried in a process that ends at once."""
    if not Path(TUN).exists():
        return f"{TUN} is not there: `modprobe tun` as root makes it"
    if not os.access(TUN, os.R_OK | os.W_OK):
        return f"this user may not open {TUN}: run it as root (`sudo`), or `chmod 666 {TUN}` as root lets all users"
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = b""
        try:
            enter_own()
            os.close(tun("penstock0")[0])
            packet_socket("lo").close()
        except (Refused, OSError) as error:
            said = (str(error) if isinstance(error, Refused) else f"{error.filename or 'the network'}: {error.strerror}").encode()
        os.write(writing, said)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as words:
        said = words.read()
    os.waitpid(child, 0)
    return said.decode() or None


class Space:
    """A network namespace, the one in which the thread is that makes it."""

    def __init__(self) -> None:
        self._file = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        ip(["link set lo up"])

    @classmethod
    def new(cls) -> "Space":
        """Make another one, and go there."""
        call("unshare", CLONE_NEWNET)
        return cls()

    def enter(self) -> None:
        """Let this thread, and what it starts, be there."""
        call("setns", self._file, CLONE_NEWNET)


def ip(commands: Sequence[str]) -> None:
    """Let iproute2 do something in the namespace of this thread."""
    done = subprocess.run(["ip", "-force", "-batch", "-"], input="\n".join([*commands, ""]), capture_output=True, text=True)
    if done.returncode:
        raise OSError(1, (done.stderr or done.stdout).strip().replace("\n", "; "), "ip")


def setting(name: str, value: object) -> None:
    """Set a value of /proc/sys/net in the namespace of this thread."""
    Path("/proc/sys/net", name).write_text(str(value))


def quiet() -> None:
    """Let the interfaces that are made here send nothing by themselves, as IPv6 would."""
    with contextlib.suppress(OSError):  # a kernel without IPv6
        setting("ipv6/conf/default/disable_ipv6", 1)
        setting("ipv6/conf/all/disable_ipv6", 1)


def show_interfaces() -> None:
    """Let /sys show the interfaces of this thread's namespace, as simple_switch looks there for the state of ports."""
    with contextlib.suppress(OSError):
        call("mount", b"sysfs", b"/sys", b"sysfs", 0, None)


def tun(name: str) -> tuple[int, str]:
    """Return an open TUN device of IP packets, made in the namespace of this thread, and its name; it goes when it is closed."""
    return _tun_or_tap(name, IFF_TUN)


def tap(name: str) -> tuple[int, str]:
    """Return an open TAP device of Ethernet frames, made in the namespace of this thread, and its name; it goes when it is closed.

    The kernel cuts large segments and fills in checksums before it hands frames over: such a device has no offloads.
    """
    return _tun_or_tap(name, IFF_TAP)


def _tun_or_tap(name: str, kind: int) -> tuple[int, str]:
    file = os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        made = fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), kind | IFF_NO_PI))
    except OSError as error:
        os.close(file)
        raise OSError(error.errno, error.strerror, TUN) from None
    return file, made[:16].split(b"\0")[0].decode()


def packet_socket(interface: str) -> socket.socket:
    """Return a socket for the frames of an interface, with their tags, and without those that it sends itself."""
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    with contextlib.suppress(OSError):  # Linux 4.20; before it a frame that was sent is not given back to its own socket either
        made.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    for force, usual in ((SO_RCVBUFFORCE, socket.SO_RCVBUF), (SO_SNDBUFFORCE, socket.SO_SNDBUF)):
        buffer(made, force, usual, BUFFER_BYTES)
    made.bind((interface, ETH_P_ALL))
    made.setblocking(False)
    return made


def buffer(made: socket.socket, force: int, usual: int, size: int) -> None:
    """Set the size of a socket's buffer, beyond the system's limit where that is allowed."""
    try:
        made.setsockopt(socket.SOL_SOCKET, force, size)
    except OSError:
        made.setsockopt(socket.SOL_SOCKET, usual, size)


def lost(made: socket.socket) -> int:
    """Return how many frames a packet socket had no room for, since the last call."""
    _, dropped = struct.unpack("II", made.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    return int(dropped)


def cable(port: str, end: str, mtu: int) -> None:
    """Make two interfaces that are joined.

    They have no offloads and no larger MTU than is needed: then libpcap, by which simple_switch reads, takes the length of a frame from the
    MTU and has a thousand places in its ring; otherwise there are 32, and a burst is lost in front of the switch.
    """
    ip([
        f"link add name {port} mtu {mtu} txqueuelen 10000 type veth peer name {end} mtu {mtu} txqueuelen 10000",
        f"link set {port} up",
        f"link set {end} up",
    ])  # fmt: skip
    for interface in (port, end):
        _no_offloads(interface)


def _no_offloads(interface: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as place:
        for command in ETHTOOL_OFF:
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            with contextlib.suppress(OSError):  # an offload that it does not have
                fcntl.ioctl(place, SIOCETHTOOL, struct.pack("16sP16x", interface.encode(), ctypes.addressof(value)))
