# SPDX-License-Identifier: MIT
"""Résout l'équation de la chaleur dans une plaque avec un réseau de neurones informé par la physique."""
import argparse
import time

import torch
from torch import nn


class Champ(nn.Module):
    def __init__(self, largeur, couches):
        super().__init__()
        tailles = [3] + [largeur] * couches
        self.couches = nn.ModuleList(nn.Linear(a, b) for a, b in zip(tailles, tailles[1:]))
        self.sortie = nn.Linear(largeur, 1)

    def forward(self, points):
        for couche in self.couches:
            points = torch.tanh(couche(points))
        return self.sortie(points)


def derivee(valeurs, points):
    return torch.autograd.grad(valeurs.sum(), points, create_graph=True)[0]


def residu(champ, points, diffusivite):
    premiere = derivee(champ(points), points)
    seconde_x = derivee(premiere[:, 0], points)[:, 0]
    seconde_y = derivee(premiere[:, 1], points)[:, 1]
    return premiere[:, 2] - diffusivite * (seconde_x + seconde_y)


def main():
    analyseur = argparse.ArgumentParser(description=__doc__)
    analyseur.add_argument("--points", type=int, default=20000, help="points de collocation par itération")
    analyseur.add_argument("--bord", type=int, default=2000)
    analyseur.add_argument("--largeur", type=int, default=256)
    analyseur.add_argument("--couches", type=int, default=6)
    analyseur.add_argument("--iterations", type=int, default=12)
    choix = analyseur.parse_args()
    champ = Champ(choix.largeur, choix.couches).cuda()
    n_poids = sum(poids.numel() for poids in champ.parameters())
    print(f"Réseau : {choix.couches} couches de {choix.largeur}, {n_poids * 4 / 2**20:.1f} Mio de poids")
    print(f"Collocation : {choix.points} points intérieurs, {choix.bord} au bord")
    optimiseur = torch.optim.Adam(champ.parameters(), lr=1e-3)
    debut = time.perf_counter()
    for iteration in range(1, choix.iterations + 1):
        interieur = torch.rand(choix.points, 3, device="cuda", requires_grad=True)
        bord = torch.rand(choix.bord, 3, device="cuda")
        bord[:, 0] = 0
        perte = residu(champ, interieur, 0.1).square().mean() + champ(bord).square().mean()
        optimiseur.zero_grad()
        perte.backward()
        optimiseur.step()
        if iteration % 4 == 0:
            memoire = torch.cuda.max_memory_allocated() / 2**30
            print(f"itération {iteration:4d}  perte {perte.item():.3e}  mémoire au plus {memoire:.2f} Gio")
    print(f"Terminé en {time.perf_counter() - debut:.1f} s")


if __name__ == "__main__":
    main()
